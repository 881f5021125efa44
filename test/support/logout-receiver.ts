import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createLocalJWKSet, decodeJwt, type JWTPayload, jwtVerify } from 'jose'
import { listenOnLoopback } from './loopback.ts'

/** A logout token that a relying party received. */
export type Heard = { path: string; contentType: string; form: Record<string, string>; at: number }

/** A relying party on this machine that receives logout tokens; each path belongs to one client. */
export type LogoutReceiver = {
  urlOf: (path: string) => string
  /** The logout tokens that a path received, in order. */
  heardAt: (path: string) => Heard[]
  /** The `sid`s of the logout tokens that a path received. */
  toldAt: (path: string) => string[]
  /** Waits until a path has received so many. */
  waitFor: (path: string, count?: number, limitMs?: number) => Promise<Heard[]>
  /** How a path responds; by default 200 without a body. */
  answers: Map<string, RequestListener>
  close: () => Promise<void>
}

const WAIT_LIMIT_MS = 20_000

export async function startLogoutReceiver(): Promise<LogoutReceiver> {
  const heard: Heard[] = []
  const answers: LogoutReceiver['answers'] = new Map()
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url ?? ''
      heard.push({
        path,
        contentType: request.headers['content-type'] ?? '',
        form: Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString())),
        at: Date.now(),
      })
      const answer = answers.get(path) ?? ((_, to) => to.writeHead(200).end())
      answer(request, response)
      for (const look of waiting) look()
    })
  })
  const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`
  const heardAt = (path: string) => heard.filter((each) => each.path === path)
  return {
    urlOf: (path) => `${origin}${path}`,
    heardAt,
    toldAt: (path) => heardAt(path).map(({ form }) => String(decodeJwt(form.logout_token as string).sid)),
    waitFor: (path, count = 1, limitMs = WAIT_LIMIT_MS) =>
      new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          waiting.delete(look)
          reject(new Error(`${path} heard ${heardAt(path).length} of ${count}`))
        }, limitMs)
        const look = () => {
          if (heardAt(path).length < count) return
          clearTimeout(limit)
          waiting.delete(look)
          resolve(heardAt(path))
        }
        waiting.add(look)
        look()
      }),
    answers,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * Validates a logout token as a relying party does (OpenID Connect Back-Channel Logout 1.0, section 2.6), by
 * the keys that discovery leads to; returns its header and claims. `origin` is the address on which the
 * provider listens.
 */
export async function validateLogoutToken(
  origin: string,
  tenant: string,
  clientId: string,
  { contentType, form }: Heard,
): Promise<{ alg: string; claims: JWTPayload }> {
  if (contentType !== 'application/x-www-form-urlencoded') throw new Error(contentType)
  if (Object.keys(form).join() !== 'logout_token') throw new Error(Object.keys(form).join())
  const read = async (url: string) => {
    const { pathname } = new URL(url, origin)
    return (await fetch(`${origin}${pathname}`)).json()
  }
  const metadata = await read(`/${tenant}/.well-known/openid-configuration`)
  const { payload, protectedHeader } = await jwtVerify(
    form.logout_token as string,
    createLocalJWKSet(await read(metadata.jwks_uri)),
    {
      issuer: metadata.issuer,
      audience: clientId,
      typ: 'logout+jwt',
      algorithms: metadata.id_token_signing_alg_values_supported,
      requiredClaims: ['iat', 'exp', 'jti', 'events'],
      maxTokenAge: 120,
    },
  )
  return { alg: protectedHeader.alg, claims: payload }
}
