import { workerInfo } from "heddle/task";

export interface Claims {
  readonly sub: string;
  /** Seconds since 1970. */
  readonly exp: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const HEADER = toBase64Url(encoder.encode('{"alg":"HS256","typ":"JWT"}'));

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_")
    .replaceAll("=", "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** The setup module has imported the key, once for each worker. */
const keyOf = (): CryptoKey => workerInfo<CryptoKey>()!.context;

export async function sign(claims: Claims): Promise<string> {
  const content = `${HEADER}.${toBase64Url(encoder.encode(JSON.stringify(claims)))}`;
  const signature = await crypto.subtle.sign("HMAC", keyOf(), encoder.encode(content));
  return `${content}.${toBase64Url(new Uint8Array(signature))}`;
}

/** A new token for a valid one, or why it is not valid. */
export async function renew(token: string, now: number, seconds: number): Promise<string> {
  const [header = "", payload = "", signature = ""] = token.split(".");
  const content = encoder.encode(`${header}.${payload}`);
  const isSigned = header === HEADER &&
    await crypto.subtle.verify("HMAC", keyOf(), fromBase64Url(signature), content);
  if (!isSigned) throw new Error("bad signature");
  const claims = JSON.parse(decoder.decode(fromBase64Url(payload))) as Claims;
  if (claims.exp <= now) throw new Error("expired");
  return await sign({ ...claims, exp: now + seconds });
}
