/** Sets the links of lanes for browsers. Imported first, for its effect. */
import { GatedConsumer } from "./gated-consumer.ts";
import { links } from "../../../lane/links.ts";

links.current = {
  takeConsumer: (ring) => ring.takeConsumer(GatedConsumer),
  attach: (endpoint, port, onArrival) => {
    (endpoint.rx as GatedConsumer).messages = endpoint.messages;
    port.onArrival?.(onArrival);
  },
};
