import { publishMessage } from './bus.ts'

/** How long further messages of the same kind wait. */
const PAUSE_MS = 20
/** The messages that were sent within the pause, by topic and message; true when there is another one. */
const recent = new Map<string, boolean>()

function sendMessage(key: string, topic: string, message: string): void {
  recent.set(key, false)
  publishMessage(topic, message)
  setTimeout(() => {
    const hasMore = recent.get(key)
    recent.delete(key)
    if (hasMore) sendMessage(key, topic, message)
  }, PAUSE_MS).unref()
}

/**
 * Sends a message to every process, as `publishMessage` does: the first one at once, and those of the next 20 ms as one.
 * For messages that say only that there is something to read.
 */
export function publishCoalesced(topic: string, message: string): void {
  const key = `${topic}\n${message}`
  if (recent.has(key)) recent.set(key, true)
  else sendMessage(key, topic, message)
}
