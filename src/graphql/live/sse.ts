import type { ExecutionResult } from 'graphql'
import type { GraphQLContext } from '../context.ts'
import { toResultText } from './result-text.ts'

/** Interval of comments, which keep proxies from closing an idle connection. */
const PING_MS = 12_000
/** A client that has left a chunk unread for so many intervals is disconnected, and can resume. */
const MAX_UNREAD_PINGS = 5

/** Positions are base64url and have no line break, which would start another field. */
const formatIdLine = (position: unknown): string => (typeof position === 'string' ? `id: ${position}\n` : '')

const formatEvent = (text: string, position: unknown): string =>
  `event: next\n${formatIdLine(position)}data: ${text}\n\n`

/** The unread bytes above which a stream no longer shares its execution: its results wait until the client reads. */
const MAX_UNREAD_BYTES = 64_000

/**
 * Creates a stream of server-sent events from the results of a subscription (GraphQL over SSE, distinct
 * connections mode). Each event has its position as `id:`, so that Last-Event-ID resumes. The first chunk has
 * the start position, for streams that are disconnected before their first event. Results are pulled: a slow
 * reader buffers one result, and does not affect other readers.
 */
export function toServerSentEvents(
  results: AsyncGenerator<ExecutionResult>,
  { ctx: { requestId }, stream }: Pick<GraphQLContext, 'ctx' | 'stream'>,
  handleEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let ping: NodeJS.Timeout | undefined
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      controller.enqueue(encoder.encode(`:\n${formatIdLine(stream.position)}\n`))
      const deliver = (text: string, position: string) => {
        if ((controller.desiredSize ?? 0) < -MAX_UNREAD_BYTES) return false
        controller.enqueue(encoder.encode(formatEvent(text, position)))
        return true
      }
      stream.transport = { deliver, handleEnd }
      let unreadPings = 0
      ping = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) {
          unreadPings = 0
          return controller.enqueue(encoder.encode(':\n\n'))
        }
        unreadPings += 1
        if (unreadPings < MAX_UNREAD_PINGS) return
        clearInterval(ping)
        void results.return(undefined)
        controller.error(new Error('the client does not read the stream'))
      }, PING_MS)
      ping.unref()
    },
    async pull(controller) {
      const { done, value } = await results.next()
      if (done) {
        clearInterval(ping)
        controller.enqueue(encoder.encode('event: complete\ndata:\n\n'))
        controller.close()
        return
      }
      const text = toResultText(value, requestId)
      controller.enqueue(encoder.encode(formatEvent(text, value.extensions?.position)))
    },
    async cancel() {
      clearInterval(ping)
      await results.return(undefined)
    },
  }
  // Without results that wait, one byte is wanted.
  return new ReadableStream<Uint8Array>(source, { highWaterMark: 1, size: ({ byteLength }) => byteLength })
}
