import { FastResponse } from 'srvx'
import type { Ctx } from '../context/context.ts'
import { resolveCallerKey } from '../coordination/call-budget.ts'
import { createHoldLimit } from '../coordination/hold-limits.ts'
import { NDJSON } from '../core/json/ndjson.ts'
import { log } from '../core/log.ts'
import { toAppError } from '../core/to-app-error.ts'
import { buildHeaders, type LinesBody, toErrorBody } from './responses.ts'

/** A caller that loses its access is disconnected within a second, as from subscriptions. */
const RECHECK_INTERVAL_MS = 1000

/** Imports and exports that run at once; each buffers up to 25 MB. */
const streams = createHoldLimit(
  'imports and exports',
  { caller: 10, site: 20, tenant: 10, process: 40 },
  { retrySeconds: 1 },
)

/**
 * Counts an import or export of a tenant; returns the function that releases it. Throws RateLimited when too
 * many are running.
 */
export const acquireStreamSlot = (ctx: Ctx): (() => void) =>
  streams.hold({ caller: resolveCallerKey(ctx), tenant: ctx.tenant, ip: ctx.ip })

/** Returns a function that calls `check` at most once a second, and throws what it throws. */
export function limitChecks(check: () => Promise<void>): () => Promise<void> {
  let checkedAt = performance.now()
  return async () => {
    if (performance.now() - checkedAt < RECHECK_INTERVAL_MS) return
    await check()
    checkedAt = performance.now()
  }
}

/**
 * Yields the chunks of a body. Calls `recheck` before each, so that no chunk is processed after the caller
 * has lost its access.
 */
export async function* recheckChunks(
  chunks: AsyncIterable<Uint8Array>,
  recheck: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    await recheck()
    yield chunk
  }
}

/**
 * Creates a streamed response of lines with backpressure: `lines` is pulled only when the client reads, and
 * ends when the client disconnects. After the status is sent, an error is reported by a last line `{error}`
 * or by aborting the connection, so that an incomplete file is recognizable.
 */
export function createLinesResponse(
  requestId: string,
  headers: Record<string, string>,
  { lines, recheck, release, emitsErrorLine }: LinesBody,
): Response {
  const encoder = new TextEncoder()
  const encodeLines = (objects: readonly object[]) =>
    encoder.encode(objects.map((line) => `${JSON.stringify(line)}\n`).join(''))
  let isCanceled = false
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          await recheck()
          const { done, value } = await lines.next()
          // The client has disconnected: the controller is closed.
          if (isCanceled) return
          if (!done) return controller.enqueue(encodeLines(value))
          release()
          controller.close()
        } catch (thrown) {
          release()
          const error = toAppError(thrown)
          if (error.status >= 500) log.error({ requestId, err: error.cause ?? error }, error.message)
          void lines.return(undefined).catch(() => {})
          if (isCanceled) return
          if (!emitsErrorLine) return controller.error(thrown)
          controller.enqueue(encodeLines([{ error: toErrorBody(error, requestId) }]))
          controller.close()
        }
      },
      cancel: async () => {
        isCanceled = true
        release()
        await lines.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  return new FastResponse(body, {
    status: 200,
    headers: { ...buildHeaders(requestId, headers), 'content-type': NDJSON },
  })
}
