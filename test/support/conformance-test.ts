import { createHash } from 'node:crypto'
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import { expect } from 'vitest'
import { sql } from '../../src/database/db.ts'
import type { ResponseMode } from '../../src/oidc/model/authorize-request.ts'
import { type Arrival, type Plan, postedAnswer, startPlan } from './conformance-plan.ts'
import { test as base } from './fixtures.ts'
import { exchange, REDIRECT_URI, type TokenAnswer } from './protocol.ts'

/** The pages of a sign-in. */
export const SIGNS_IN = ['email', 'code']
/** No request of the plan has a code_challenge but the one of its PKCE module. */
export const NO_PKCE = { code_verifier: '' }

const FIELDS = {
  name: 'Ada Lovelace',
  givenName: 'Ada',
  familyName: 'Lovelace',
  birthdate: '1815-12-10',
  zoneinfo: 'Europe/London',
  phoneNumber: '+41791234567',
  address: { formatted: 'London\nGB', country: 'GB' },
}
type SignInOptions = NonNullable<Parameters<Plan['signIn']>[1]>
type Expected = { nonce?: string; client?: { id: string }; alg?: string }

/**
 * Makes `test` for the modules of the Basic plan: a user, and a relying party that uses one response mode.
 */
export const makePlanTest = (mode: ResponseMode) =>
  base
    .extend('responseMode', { scope: 'file' }, async (): Promise<ResponseMode> => mode)
    .extend('user', { scope: 'file' }, ({ newPerson }) => newPerson(FIELDS))
    .extend('plan', { scope: 'file' }, ({ app, tenant, user, responseMode }) =>
      startPlan(app, tenant, user.email, responseMode),
    )
    /** Reads the claims of a user by the access token. */
    .extend(
      'readUserinfo',
      { scope: 'file' },
      ({ oidc }) =>
        async ({ body }: TokenAnswer): Promise<Record<string, unknown>> => {
          const response = await oidc.userinfo(body.access_token ?? '')
          expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
          return (await response.json()) as Record<string, unknown>
        },
    )
    /**
     * Expects what is true of every ID token (OIDC Core, sections 2, 3.1.3.6 and 3.1.3.7); returns its
     * claims.
     */
    .extend(
      'checkIdToken',
      { scope: 'file' },
      ({ app, tenant, plan, user }) =>
        async (
          { body }: TokenAnswer,
          { nonce, client = plan.client, alg = 'ES256' }: Expected,
        ): Promise<JWTPayload> => {
          const keys = createRemoteJWKSet(new URL(`${app.origin}/${tenant}/.well-known/jwks.json`))
          const { payload, protectedHeader } = await jwtVerify(body.id_token ?? '', keys, {
            issuer: plan.issuer,
            audience: client.id,
            algorithms: [alg],
            requiredClaims: ['sub', 'iat', 'exp', 'auth_time'],
          })
          expect(protectedHeader.kid).toEqual(expect.any(String))
          const hash = createHash('sha256')
            .update(body.access_token ?? '')
            .digest()
          expect(payload).toMatchObject({
            sub: user.id,
            aud: client.id,
            at_hash: hash.subarray(0, 16).toString('base64url'),
          })
          expect(payload.nonce).toBe(nonce)
          expect(payload.auth_time as number).toBeLessThanOrEqual(payload.iat as number)
          return payload
        },
    )
    /** Expects that a response was sent by the response mode of the request. */
    .extend('expectMode', { scope: 'file' }, ({ responseMode }) => ({ html, response }: Arrival): void => {
      expect(postedAnswer(html) !== null).toBe(responseMode === 'form_post')
      expect(response.headers.has('location')).toBe(responseMode === 'query')
    })
    /** Signs in with the parameters of a module and expects what is true of every response. */
    .extend(
      'succeed',
      { scope: 'file' },
      ({ plan, expectMode, checkIdToken, readUserinfo }) =>
        async (more: Record<string, string | null> = {}, options: SignInOptions = {}) => {
          const nonce = `nonce-${Math.random()}`
          const signedIn = await plan.signIn({ nonce, ...more }, options)
          const { answer, target } = signedIn.arrival
          expectMode(signedIn.arrival)
          expect([target, answer]).toEqual([
            REDIRECT_URI,
            { code: expect.any(String), state: 'a-state', iss: plan.issuer },
          ])
          const expected = { status: 200, body: { token_type: 'Bearer', expires_in: 3600 } }
          expect(signedIn.tokens).toMatchObject(expected)
          expect(signedIn.tokens.headers.get('cache-control')).toBe('no-store')
          const idToken = await checkIdToken(signedIn.tokens, {
            nonce: more.nonce === null ? undefined : nonce,
          })
          return { ...signedIn, idToken, person: await readUserinfo(signedIn.tokens) }
        },
    )
    /** Expects an error that is sent to the client (OIDC Core, section 3.1.2.6). */
    .extend(
      'expectError',
      { scope: 'file' },
      ({ plan, expectMode }) =>
        (arrival: Arrival, error: string, state: string | null = 'a-state'): void => {
          const { target, answer } = arrival
          expectMode(arrival)
          expect([target, answer.error, answer.state ?? null, answer.iss]).toEqual([
            REDIRECT_URI,
            error,
            state,
            plan.issuer,
          ])
          expect(answer).not.toHaveProperty('code')
        },
    )
    /** Expects an error that is shown to the user, as the redirect_uri is not verified. */
    .extend('expectErrorPage', { scope: 'file' }, () => ({ target, pages, response }: Arrival): void => {
      expect([target, pages, response.status]).toEqual([null, ['error'], 400])
      expect(response.headers.get('location')).toBeNull()
    })
    /** Expects that a code that was redeemed is rejected. */
    .extend(
      'expectReuse',
      { scope: 'file' },
      ({ app, tenant, plan }) =>
        async (code: string): Promise<void> => {
          const { status, body, headers } = await exchange(app, tenant, plan.client, code, NO_PKCE)
          expect([status, body.error, headers.get('content-type')]).toEqual([
            400,
            'invalid_grant',
            'application/json',
          ])
        },
    )
    /** Expects the subject from a POST request to the userinfo endpoint. */
    .extend(
      'expectPost',
      { scope: 'file' },
      ({ app, tenant, user }) =>
        async (init: RequestInit): Promise<void> => {
          const response = await app.fetch(`/${tenant}/oidc/userinfo`, { method: 'POST', ...init })
          expect([response.status, await response.json()]).toEqual([200, { sub: user.id }])
        },
    )
    /** Moves the sign-ins of active sessions into the past. */
    .extend(
      'ageSessions',
      { scope: 'file' },
      ({ tenant }) =>
        (seconds: number) =>
          sql(
            `UPDATE "Session" SET "authenticatedAt" = "authenticatedAt" - make_interval(secs => $2),
               "proofs" = jsonb_set("proofs", '{0,at}', to_jsonb(("proofs"->0->>'at')::timestamptz - make_interval(secs => $2)))
             WHERE "tenantId" = $1 AND "endedAt" IS NULL`,
            [tenant, seconds],
          ),
    )

export type PlanTest = ReturnType<typeof makePlanTest>
