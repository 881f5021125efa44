import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib'
import { REFUSED } from './accepted-types.ts'

export type Encoding = 'br' | 'gzip'

/** Shorter text does not become smaller by more than the headers. */
const MIN_BYTES = 1024
/** A page of 10 KB takes 0.2 ms. */
const PAGE_QUALITY = 4

/** The content coding of a response (RFC 9110, section 12.5.3); null for none. Brotli is preferred. */
export function selectEncoding(accepted: string | null): Encoding | null {
  const codings = (accepted ?? '')
    .toLowerCase()
    .split(',', 20)
    .filter((coding) => !REFUSED.test(coding))
    .map((coding) => coding.split(';', 1)[0]?.trim())
  if (codings.includes('br')) return 'br'
  return codings.includes('gzip') ? 'gzip' : null
}

/** Compresses text; `quality` is that of brotli, 0 to 11. */
export function compressText(text: string, encoding: Encoding, quality = PAGE_QUALITY): Buffer<ArrayBuffer> {
  const compressed =
    encoding === 'gzip'
      ? gzipSync(text)
      : brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
  return compressed as Buffer<ArrayBuffer>
}

/** The body and the headers of text for a request with this Accept-Encoding header. */
export function encodeText(
  text: string,
  accepted: string | null,
): { body: string | Buffer<ArrayBuffer>; headers: { 'content-encoding'?: Encoding } } {
  const encoding = text.length < MIN_BYTES ? null : selectEncoding(accepted)
  if (!encoding) return { body: text, headers: {} }
  return { body: compressText(text, encoding), headers: { 'content-encoding': encoding } }
}

/** The text of a response of this server, which may be compressed. The response can still be sent. */
export async function readText(response: Response): Promise<string> {
  const body = Buffer.from(await response.clone().arrayBuffer())
  const encoding = response.headers.get('content-encoding')
  if (encoding === 'br') return brotliDecompressSync(body).toString()
  return (encoding === 'gzip' ? gunzipSync(body) : body).toString()
}
