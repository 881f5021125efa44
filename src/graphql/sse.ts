import type { ExecutionResult } from 'graphql'
import { maskErrors, toJson } from './masking.ts'

/** Proxies close what is silent; a comment keeps it open. */
const PING_MS = 12_000

/** A position of ours, never a line break: what stands in a line of its own must not start another. */
const idLine = (position: unknown): string => (typeof position === 'string' ? `id: ${position}\n` : '')

/**
 * The results of a subscription as server-sent events (GraphQL over SSE, distinct connections mode), each with the
 * position as `id:`, so that Last-Event-ID resumes. The first chunk carries the start: a stream that was cut before
 * its first event resumes from there.
 * Results are pulled: a reader that stalls costs one of them, and no other reader anything.
 */
export function eventStream(
  results: AsyncGenerator<ExecutionResult>,
  start: string | null,
  requestId: string,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let ping: NodeJS.Timeout | undefined
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(`:\n${idLine(start)}\n`))
      ping = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(':\n\n'))
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
      const { errors, ...rest } = value
      // JSON has no raw line break, so that one data line holds it.
      const body = JSON.stringify({
        ...rest,
        ...(errors && { errors: maskErrors(errors, requestId).map(toJson) }),
      })
      controller.enqueue(
        encoder.encode(`event: next\n${idLine(value.extensions?.position)}data: ${body}\n\n`),
      )
    },
    async cancel() {
      clearInterval(ping)
      await results.return(undefined)
    },
  })
}
