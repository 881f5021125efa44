import type { ServerResponse } from 'node:http'
import { dbFor } from './database.ts'
import { test as base, type SignInProvider } from './provider-sign-in.ts'
import type { Upstream } from './upstream.ts'

/** An answer of a provider; a body other than text is sent as JSON. */
export type ProviderAnswer = { status?: number; type?: string; body?: unknown }

/** How a provider deviates from what most do. */
export type Habits = {
  /** Claims of the ID token besides the usual ones; a text is the whole payload, with NONCE for the nonce. */
  idToken?: Record<string, unknown> | string
  /** The answer of the userinfo endpoint; null never comes. Without it, the endpoint answers 404. */
  userInfo?: ProviderAnswer | null
  /** Members of the token answer besides the usual ones. */
  tokens?: Record<string, unknown>
  /** Changes the whole token answer. */
  tokenAnswer?: (members: Record<string, unknown>) => ProviderAnswer
  /** Signs the ID token in another way than with the published key. */
  sign?: (claims: string) => Promise<string>
}

const send = (
  response: ServerResponse,
  { status = 200, type = 'application/json', body = {} }: ProviderAnswer,
) => {
  response.writeHead(status, { 'content-type': type })
  response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
  return true
}

/** Makes a provider answer a path. */
export const answerAt = (upstream: Upstream, path: string, answer: ProviderAnswer): void => {
  upstream.before.set(path, (_request, response) => send(response, answer))
}

/** The claims of an ID token as most providers send them; without those that are undefined. */
export const usualClaims = (
  upstream: Upstream,
  subject: string,
  more: Record<string, unknown> = {},
): string => {
  const now = Math.floor(Date.now() / 1000)
  const usual = {
    iss: upstream.issuer,
    aud: 'vestibule',
    sub: subject,
    iat: now,
    exp: now + 300,
    nonce: 'NONCE',
  }
  return JSON.stringify({ ...usual, ...more })
}

async function adopt({ upstream }: SignInProvider, subject: string, nonce: string, habits: Habits) {
  const { idToken = {}, userInfo = { status: 404 }, tokens = {}, tokenAnswer, sign } = habits
  const text = typeof idToken === 'string' ? idToken : usualClaims(upstream, subject, idToken)
  const claims = text.replace('NONCE', nonce)
  const id_token = await (sign ?? upstream.signText)(claims)
  const members = { access_token: 'at', token_type: 'Bearer', id_token, ...tokens }
  answerAt(upstream, '/token', tokenAnswer?.(members) ?? { body: members })
  upstream.before.set('/me', (_request, response) =>
    userInfo === null ? new Promise(() => {}) : send(response, userInfo),
  )
}

/** `test` with sign-ins at providers that have habits. */
export const test = base
  /** A whole sign-in of a subject in a new browser; returns the page that follows. */
  .extend(
    'signInWithHabits',
    ({ newBrowser, start, choose, comeBack, signInThere }) =>
      async (provider: SignInProvider, subject: string, habits: Habits) => {
        const by = newBrowser()
        const request = await choose(await start(by), provider.id, by)
        const callback = await signInThere(request, subject)
        await adopt(provider, subject, request.searchParams.get('nonce') ?? '', habits)
        const page = await comeBack(callback, by)
        provider.upstream.before.clear()
        return { ...page, hasEntered: page.location?.includes('code=') ?? false }
      },
  )
  /** The user who is linked to a subject, and the metadata of the link. */
  .extend('findLinked', { scope: 'file' }, ({ tenant }) => async (idpId: string, externalId: string) => {
    const link = await dbFor(tenant).idpUser.findFirst({
      where: { tenantId: tenant, idpId, externalId },
      include: { user: true },
    })
    return link && { ...link.user, metadata: link.metadata as Record<string, unknown> }
  })
  .extend(
    'findLastFailure',
    ({ events }) =>
      async () =>
        (await events({ type: 'signin.failed' })).at(-1),
  )
