import { publishMessage } from './bus.ts'

/** How long further news of the same kind waits. */
const PAUSE_MS = 20
/** The news that was sent within the pause, by topic and message; true when there is more. */
const recent = new Map<string, boolean>()

function sendNews(key: string, topic: string, message: string): void {
  recent.set(key, false)
  publishMessage(topic, message)
  setTimeout(() => {
    const hasMore = recent.get(key)
    recent.delete(key)
    if (hasMore) sendNews(key, topic, message)
  }, PAUSE_MS).unref()
}

/**
 * Sends a message to every process, as `publishMessage` does: the first one at once, and those of the next 20 ms as one.
 * For messages that say only that there is something to read.
 */
export function publishNews(topic: string, message: string): void {
  const key = `${topic}\n${message}`
  if (recent.has(key)) recent.set(key, true)
  else sendNews(key, topic, message)
}
