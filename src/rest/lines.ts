import { FastResponse } from 'srvx'
import { describeError, RateLimited } from '../errors.ts'
import { log } from '../log.ts'
import { NDJSON } from '../ndjson.ts'
import { headersWith, type Lines, toErrorBody } from './respond.ts'

/** As for subscriptions: whoever loses a right is cut off within a second. */
const RECHECK_MS = 1000

/** As many imports and exports as a tenant may have under way in a process: each holds up to 25 MB for its other side. */
const MAX_STREAMS = 10
const streams = new Map<string, number>()

/** Counts an import or export of a tenant until it is let go. Throws RateLimited when too many are under way. */
export function takeStream(tenant: string): () => void {
  const count = streams.get(tenant) ?? 0
  if (count >= MAX_STREAMS) throw new RateLimited(1, 'Too many imports and exports at once.')
  streams.set(tenant, count + 1)
  let isTaken = true
  return () => {
    if (!isTaken) return
    isTaken = false
    const left = (streams.get(tenant) ?? 0) - 1
    if (left > 0) streams.set(tenant, left)
    else streams.delete(tenant)
  }
}

/** Runs `check` again, where it was a second ago or more. What it throws is thrown. */
export function onceASecond(check: () => Promise<void>): () => Promise<void> {
  let checkedAt = performance.now()
  return async () => {
    if (performance.now() - checkedAt < RECHECK_MS) return
    await check()
    checkedAt = performance.now()
  }
}

/**
 * The chunks of a body, of which none is handed on once `recheck` throws: whoever waits with the lines until their right
 * is gone sends them in vain.
 */
export async function* checkedChunks(
  chunks: AsyncIterable<Uint8Array>,
  recheck: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    await recheck()
    yield chunk
  }
}

/**
 * An answer of lines, made as they are taken: nothing is asked of `lines` while the reader is behind, and nothing more
 * once the reader is gone. What fails after the first line is no status any more: it is told by a line `{error}`, or by
 * breaking off, so that nobody takes half a file for a whole one.
 */
export function linesResponse(
  requestId: string,
  headers: Record<string, string>,
  { lines, recheck, release, tellsErrors }: Lines,
): Response {
  const encoder = new TextEncoder()
  const encode = (some: readonly object[]) =>
    encoder.encode(some.map((line) => `${JSON.stringify(line)}\n`).join(''))
  let isGone = false
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          await recheck()
          const { done, value } = await lines.next()
          // The reader left meanwhile, which is nobody's fault: there is nothing to write to.
          if (isGone) return
          if (!done) return controller.enqueue(encode(value))
          release()
          controller.close()
        } catch (thrown) {
          release()
          const error = describeError(thrown)
          if (error.status >= 500) log.error({ requestId, err: error.cause ?? error }, error.message)
          void lines.return(undefined).catch(() => {})
          if (isGone) return
          if (!tellsErrors) return controller.error(thrown)
          controller.enqueue(encode([{ error: toErrorBody(error, requestId) }]))
          controller.close()
        }
      },
      cancel: async () => {
        isGone = true
        release()
        await lines.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  return new FastResponse(body, {
    status: 200,
    headers: { ...headersWith(requestId, headers), 'content-type': NDJSON },
  })
}
