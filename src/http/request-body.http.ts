import type { IncomingMessage, ServerResponse } from 'node:http'
import type { H3Event } from 'h3'
import { InvalidInput, PayloadTooLarge, UnsupportedMediaType } from '../core/errors.ts'
import { parseExactJson } from '../core/json/exact-json.ts'
import { OAuthError } from '../core/oauth-error.ts'
import { setStreamIdleTimeout } from './connection-timeouts.ts'
import { createRepeatedError, findRepeatedNames } from './repeated-parameters.ts'

export const JSON_LIMIT_BYTES = 100_000
export const FORM_LIMIT_BYTES = 65_536

const readMediaType = (event: H3Event): string =>
  (event.req.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/**
 * Reads the body as bytes. It is read from Node's request, because a web stream costs more than the rest of a
 * token request. Throws PayloadTooLarge once the body exceeds the limit, regardless of Content-Length;
 * InvalidInput when it is incomplete.
 */
export function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes)
    return Promise.reject(new PayloadTooLarge(limitBytes))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const finish = (settle: () => void) => {
      request.off('data', take).off('end', end).off('error', fail).off('close', fail)
      settle()
    }
    const take = (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > limitBytes) finish(() => reject(new PayloadTooLarge(limitBytes)))
    }
    const end = () =>
      finish(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    const fail = () =>
      finish(() => reject(new InvalidInput([{ field: '', description: 'the body was cut off' }])))
    request.on('data', take).on('end', end).on('error', fail).on('close', fail)
  })
}

async function readText(event: H3Event, limitBytes: number): Promise<string> {
  const request = event.runtime?.node?.req as IncomingMessage | undefined
  const bytes = request ? await readBytes(request, limitBytes) : Buffer.from(await event.req.arrayBuffer())
  if (bytes.length > limitBytes) throw new PayloadTooLarge(limitBytes)
  return bytes.toString('utf8')
}

function requireJsonType(event: H3Event, other?: string): void {
  const type = readMediaType(event)
  if (type !== 'application/json' && type !== other)
    throw new UnsupportedMediaType(other ?? 'application/json')
}

/**
 * Reads a JSON body of at most 100 KB, or of another limit, which may have another media type too. Throws
 * UnsupportedMediaType, PayloadTooLarge or InvalidInput.
 */
export async function readJson(
  event: H3Event,
  { limitBytes = JSON_LIMIT_BYTES, type }: { limitBytes?: number; type?: string } = {},
): Promise<unknown> {
  requireJsonType(event, type)
  return parseJson(await readText(event, limitBytes))
}

/**
 * Reads a JSON body as `readJson` does; undefined when there is none, whatever Content-Type says. The body
 * `null` is a body.
 */
export async function readOptionalJson(event: H3Event): Promise<unknown> {
  const text = await readText(event, JSON_LIMIT_BYTES)
  if (text === '') return undefined
  requireJsonType(event)
  return parseJson(text)
}

/** Reads a text of a media type. Throws UnsupportedMediaType, PayloadTooLarge or InvalidInput. */
export async function readTextBody(
  event: H3Event,
  { type, limitBytes }: { type: string; limitBytes: number },
): Promise<string> {
  if (readMediaType(event) !== type) throw new UnsupportedMediaType(type)
  return readText(event, limitBytes)
}

function parseJson(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    throw new InvalidInput([{ field: '', description: 'the body is not valid JSON' }])
  }
}

/**
 * Returns a body of any length as a stream with backpressure. Throws UnsupportedMediaType; the stream throws
 * InvalidInput when the body is incomplete.
 */
export function readStream(event: H3Event, expected: string): AsyncIterable<Uint8Array> {
  const encoding = event.req.headers.get('content-encoding') ?? 'identity'
  if (readMediaType(event) !== expected || encoding !== 'identity')
    throw new UnsupportedMediaType(`${expected}, not compressed`)
  const request = event.runtime?.node?.req as IncomingMessage | undefined
  if (!request) return event.req.body ?? (async function* () {})()
  return readChunks(request)
}

/** Replaces the time limit of a request and its response by a limit on inactivity. */
export function setIdleTimeout(event: H3Event): void {
  const { req, res } = event.runtime?.node ?? {}
  if (req && res) setStreamIdleTimeout(req as IncomingMessage, res as ServerResponse)
}

async function* readChunks(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    // The socket stays open when reading stops early: the response is still to be sent.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer
  } catch {
    throw new InvalidInput([{ field: '', description: 'the body was cut off' }])
  }
}

/**
 * Returns the parameters of a query or form, without `left`. Throws OAuthError for a repeated one (RFC 6749,
 * section 3.1).
 */
export function requireSingleParams(params: URLSearchParams, left?: string): Record<string, string> {
  const single = new Map<string, string>()
  for (const [name, value] of params) {
    if (name === left) continue
    if (single.has(name))
      throw createRepeatedError(
        findRepeatedNames(params.keys()).filter((repeated) => repeated !== left),
        false,
      )
    single.set(name, value)
  }
  // A parameter with an empty value is treated as omitted (RFC 6749, section 3.1).
  for (const [name, value] of single) if (value === '') single.delete(name)
  return Object.fromEntries(single)
}

/**
 * Reads an urlencoded body of at most 64 KB, including repeated parameters. Throws OAuthError
 * invalid_request.
 */
export async function readFormParams(event: H3Event): Promise<URLSearchParams> {
  if (readMediaType(event) !== 'application/x-www-form-urlencoded')
    throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded.', {
      redirect: false,
    })
  return new URLSearchParams(await readText(event, FORM_LIMIT_BYTES))
}

/** Reads an urlencoded body. Throws OAuthError invalid_request, also for repeated parameters. */
export const readForm = async (event: H3Event): Promise<Record<string, string>> =>
  requireSingleParams(await readFormParams(event))
