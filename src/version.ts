/** The version of this copy of heddle. A worker serves hosts of the same version only. */
export const VERSION = "0.1.0";
