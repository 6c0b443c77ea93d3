/** Named and own balancers. */
import type { HostFeature } from "../../../api/pool/feature.ts";
import {
  BALANCER_NAMES,
  type BalancerFunction,
  type BalancerName,
  createChooser,
} from "./balancers.ts";
import { invalid, show } from "../../../option-checks.ts";

function checkBalancer(balancer: unknown): BalancerName | BalancerFunction {
  if (typeof balancer === "function") return balancer as BalancerFunction;
  if (typeof balancer === "string" && BALANCER_NAMES.includes(balancer)) {
    return balancer as BalancerName;
  }
  throw invalid("balancer", `a function or one of ${BALANCER_NAMES.join(", ")}`, show(balancer));
}

export const balancers: HostFeature = {
  name: "balancers",

  options: {
    balancer: (value, to) => {
      const balancer = to.balancer = checkBalancer(value);
      if (balancer === "adaptive") return;
      to.createChooser = (depth) => createChooser(balancer, depth);
      if (balancer === "fifo") to.fixedSettings = { priority: 0 };
    },
  },
  defaults: { balancer: "adaptive" },
};
