"""Sun and giant planets, moved by the symplectic Euler method: n-body STEPS."""

import math
import sys

PI = 3.141592653589793
SOLAR_MASS = 4 * PI * PI
YEAR = 365.24


class Body:
    __slots__ = ("x", "y", "z", "vx", "vy", "vz", "mass")

    def __init__(self, x, y, z, vx, vy, vz, mass):
        self.x, self.y, self.z = x, y, z
        self.vx, self.vy, self.vz = vx * YEAR, vy * YEAR, vz * YEAR
        self.mass = mass * SOLAR_MASS


BODIES = [
    Body(0, 0, 0, 0, 0, 0, 1),
    Body(
        4.84143144246472090e00,
        -1.16032004402742839e00,
        -1.03622044471123109e-01,
        1.66007664274403694e-03,
        7.69901118419740425e-03,
        -6.90460016972063023e-05,
        9.54791938424326609e-04,
    ),
    Body(
        8.34336671824457987e00,
        4.12479856412430479e00,
        -4.03523417114321381e-01,
        -2.76742510726411899e-03,
        4.99852801234917238e-03,
        2.30417297573763929e-05,
        2.85885980666130812e-04,
    ),
    Body(
        1.28943695621391310e01,
        -1.51111514016986312e01,
        -2.23307578892655734e-01,
        2.96460137564761618e-03,
        2.37847173959480950e-03,
        -2.96589568540237556e-05,
        4.36624404335156298e-05,
    ),
    Body(
        1.53796971148509165e01,
        -2.59193146099879641e01,
        1.79258772950371181e-01,
        2.68067772490389322e-03,
        1.62824170038242295e-03,
        -9.51592254519715870e-05,
        5.15138902046611451e-05,
    ),
]


def offset_momentum():
    """The sun moves so that the system as a whole does not."""
    px = py = pz = 0.0
    for b in BODIES:
        px += b.vx * b.mass
        py += b.vy * b.mass
        pz += b.vz * b.mass
    BODIES[0].vx = -px / SOLAR_MASS
    BODIES[0].vy = -py / SOLAR_MASS
    BODIES[0].vz = -pz / SOLAR_MASS


def energy():
    e = 0.0
    for i, b in enumerate(BODIES):
        e += 0.5 * b.mass * (b.vx * b.vx + b.vy * b.vy + b.vz * b.vz)
        for c in BODIES[i + 1 :]:
            dx, dy, dz = b.x - c.x, b.y - c.y, b.z - c.z
            e -= b.mass * c.mass / math.sqrt(dx * dx + dy * dy + dz * dz)
    return e


def advance(dt, steps):
    sqrt = math.sqrt
    pairs = [(b, c) for i, b in enumerate(BODIES) for c in BODIES[i + 1 :]]
    for _ in range(steps):
        for b, c in pairs:
            dx = b.x - c.x
            dy = b.y - c.y
            dz = b.z - c.z
            d2 = dx * dx + dy * dy + dz * dz
            mag = dt / (d2 * sqrt(d2))
            b.vx -= dx * c.mass * mag
            b.vy -= dy * c.mass * mag
            b.vz -= dz * c.mass * mag
            c.vx += dx * b.mass * mag
            c.vy += dy * b.mass * mag
            c.vz += dz * b.mass * mag
        for b in BODIES:
            b.x += dt * b.vx
            b.y += dt * b.vy
            b.z += dt * b.vz


offset_momentum()
before = energy()
advance(0.01, int(sys.argv[1]))
print(f"{before:.9f} {energy():.9f}")
