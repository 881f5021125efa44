import { request as httpRequest } from 'node:http'

export type RawAnswer = {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** Sends a request unchanged: fetch normalizes the target, the Host header and the bytes of header values. */
export const rawRequest = (
  origin: string,
  path: string,
  headers: Record<string, string | string[]> = {},
  { method = 'GET', body }: { method?: string; body?: string } = {},
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin)
    const request = httpRequest(
      { host: hostname, port, path, method, headers, setHost: !Object.hasOwn(headers, 'host') },
      (response) => {
        let text = ''
        response.on('data', (chunk) => (text += chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        )
      },
    )
    request.once('error', reject)
    request.end(body)
  })

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const swapCase = (letter: string): string =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()

/** Altered, truncated and extended versions of an opaque token, each with a name. */
export function listAlterations(token: string): [name: string, altered: string][] {
  const replaceAt = (at: number, letter: string) => token.slice(0, at) + letter + token.slice(at + 1)
  const other = (letter: string) => (letter === 'A' ? 'B' : 'A')
  const last = token.length - 1
  const middle = Math.floor(token.length / 2)
  const letterAt = token.search(/[A-Za-z]/)
  // The last of 43 letters has two unused bits: another text for the same bytes.
  const sameBytes = BASE64URL[BASE64URL.indexOf(token[last] ?? 'A') ^ 1] ?? 'A'
  const altered: [string, string][] = [
    ['without its last letter', token.slice(0, -1)],
    ['without its first letter', token.slice(1)],
    ['its first half', token.slice(0, middle)],
    ['with another first letter', replaceAt(0, other(token[0] ?? ''))],
    ['with another letter in the middle', replaceAt(middle, other(token[middle] ?? ''))],
    ['with another last letter', replaceAt(last, other(token[last] ?? ''))],
    ['with other values of unused bits', replaceAt(last, sameBytes)],
    ['with one letter in other case', replaceAt(letterAt, swapCase(token[letterAt] ?? 'a'))],
    ['in upper case', token.toUpperCase()],
    ['in lower case', token.toLowerCase()],
    ['with a letter appended', `${token}A`],
    ['with a dot appended', `${token}.`],
    ['with padding appended', `${token}=`],
    ['twice', token + token],
  ]
  return altered.filter(([, text]) => text !== token)
}
