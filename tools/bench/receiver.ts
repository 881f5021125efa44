// A receiver of webhooks in a process of its own, with a key and a certificate, which accepts every message. Reports its port to its parent, and answers
// each question with the messages and the distinct ids so far, and how many came after a later one of their subject.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { json } from 'node:stream/consumers'

/** What a receiver has received. `late` counts events of a subject that came after one with a higher number. */
export type Received = { messages: number; distinct: number; late: number }

// What a receiver on another machine does would not take a core from the server.
os.setPriority(os.constants.priority.PRIORITY_LOW)

const ids = new Set<string>()
const newest = new Map<string, number>()
let messages = 0
let late = 0

const [key, cert] = process.argv.slice(2).map((file) => readFileSync(file))
const server = createServer({ key, cert }, async (request, response) => {
  const { data } = (await json(request)) as { data: { userId: string; requestId: string } }
  messages += 1
  ids.add(String(request.headers['webhook-id']))
  const number = Number(data.requestId)
  const last = newest.get(data.userId) ?? 0
  if (number < last) late += 1
  newest.set(data.userId, Math.max(last, number))
  response.writeHead(204).end()
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('message', () => process.send?.({ messages, distinct: ids.size, late } satisfies Received))
