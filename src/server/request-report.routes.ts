import { setTimeout as sleep } from 'node:timers/promises'
import type { H3 } from 'h3'
import { computeMac, computeMacs, equalsConstantTime } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { NotFound } from '../core/errors.ts'
import { getRequestMeta } from '../http/request.http.ts'
import { toErrorResponse } from '../rest/responses.ts'

export const REQUEST_REPORT_PATH = '/health/request'
/** How long the stream stays silent between its events: a proxy that buffers passes on both at once. */
export const SILENCE_MS = 500

const PURPOSE = 'request-report'
/** How long a token is valid, and how far both clocks may differ. */
const VALID_MS = 120_000
const MAX_HEADER_LENGTH = 200

/** What the server sees of a request that went through proxies. */
export type RequestReport = {
  host: string | null
  forwardedProto: string | null
  /** The number of addresses in X-Forwarded-For. */
  forwardedCount: number
  /** The address that limits and sessions count. */
  address: string | null
  trustProxy: number
}

/** A bearer token for the report, which ENCRYPTION_KEY makes. */
export function createReportToken(now = Date.now()): string {
  return `${now}.${computeMac(PURPOSE, String(now)).toString('base64url')}`
}

function isReportToken(authorization: string | null): boolean {
  const [, time = '', mac = ''] = /^Bearer (\d{1,15})\.([\w-]{43})$/.exec(authorization ?? '') ?? []
  const isCurrent = time !== '' && Math.abs(Date.now() - Number(time)) < VALID_MS
  return (
    isCurrent && computeMacs(PURPOSE, time).some((own) => equalsConstantTime(own.toString('base64url'), mac))
  )
}

const cut = (value: string | null): string | null => value?.slice(0, MAX_HEADER_LENGTH) ?? null

/** Two events, with silence between them. */
function createStream(report: RequestReport): ReadableStream<Uint8Array> {
  const events = [report, {}].map((data) => Buffer.from(`data: ${JSON.stringify(data)}\n\n`))
  return new ReadableStream({
    async pull(controller) {
      if (events.length === 1) await sleep(SILENCE_MS)
      controller.enqueue(events.shift() as Buffer)
      if (events.length === 0) controller.close()
    },
  })
}

/**
 * Serves the report of a request as a stream of two events, for `vestibule doctor`, which has ENCRYPTION_KEY. Nobody else
 * finds the path.
 */
export function addRequestReportRoute(app: H3): void {
  app.get(REQUEST_REPORT_PATH, (event) => {
    const { headers } = event.req
    const { ip, requestId } = getRequestMeta(event)
    if (!isReportToken(headers.get('authorization'))) return toErrorResponse(requestId, new NotFound())
    const stream = createStream({
      host: cut(headers.get('host')),
      forwardedProto: cut(headers.get('x-forwarded-proto')),
      forwardedCount: headers.get('x-forwarded-for')?.split(',').length ?? 0,
      address: ip,
      trustProxy: env.trustProxy,
    })
    return new Response(stream, {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    })
  })
}
