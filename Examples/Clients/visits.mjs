// Prints each visit at a kiosk: node visits.mjs http://127.0.0.1:8080 [TOKEN]
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

const [address, token] = process.argv.slice(2);
const response = await fetch(`${address}/v1/events`, { headers: token ? { authorization: `Bearer ${token}` } : {} });
if (!response.ok) throw new Error(await response.text());
for await (const line of createInterface({ input: Readable.fromWeb(response.body) })) {
  const { event, member } = line.startsWith("data: ") ? JSON.parse(line.slice(6)) : {};
  if (event === "created" || event === "visit") console.log(member.username || member.userId, member.numVisits);
}
