/** A child process by hand: sends the value of each message back, with its number. */
import process from "node:process";

process.on("message", (message) => process.send(message));
