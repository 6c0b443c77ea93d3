/** The part of autocannon that is used; the package has no types. */
declare module "autocannon" {
  interface Result {
    readonly duration: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly non2xx: number;
    readonly requests: { readonly total: number };
    readonly latency: { readonly average: number; readonly p50: number; readonly p99: number };
  }
  export default function autocannon(options: {
    readonly url: string;
    readonly connections: number;
    readonly duration: number;
  }): Promise<Result>;
}
