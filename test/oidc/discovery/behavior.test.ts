import { randomUUID } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { createMembership } from '../../../src/organizations/memberships.ts'
import { createOrganization } from '../../../src/organizations/organizations.ts'
import { revokeUserSessions } from '../../../src/sessions/revoke-sessions.ts'
import { setUserRoles } from '../../../src/users/roles.ts'
import { startDeliveriesOf } from '../../support/backchannel-logout.ts'
import type { Plan } from '../../support/conformance-plan.ts'
import { decide, pollWith, startDevice } from '../../support/device-flow.ts'
import { type LogoutReceiver, startLogoutReceiver } from '../../support/logout-receiver.ts'
import { type ClientKey, makeAssertion, makeKey, makeProof } from '../../support/proofs.ts'
import {
  answerIn,
  authorizePath,
  basic,
  makeClient,
  type Origin,
  refreshWith,
  tokenRequest,
  userinfoOf,
} from '../../support/protocol.ts'
import { test as base } from '../../support/signed-in-plan.ts'

type Client = Awaited<ReturnType<typeof makeClient>>
const ENDPOINTS = ['token', 'revoke', 'introspect', 'par'] as const
const ASSERTION_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA', 'Ed25519']
const METHODS = [
  'client_secret_basic',
  'client_secret_post',
  'client_secret_jwt',
  'private_key_jwt',
  'tls_client_auth',
  'none',
]
const JWS = [
  'ES256',
  'ES384',
  'ES512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
  'Ed25519',
]

/**
 * The metadata of a tenant and a check for each of its members: each advertised value works, and every other
 * value in the registries does not. `userId` is the user of the plan.
 */
async function createMetadataChecks(app: Origin, plan: Plan, userId: string, receiver: LogoutReceiver) {
  const { tenant, issuer } = plan
  const response = await fetch(`${app.origin}/${tenant}/.well-known/openid-configuration`)
  const metadata = (await response.json()) as Record<string, unknown>
  const listValues = (name: string): string[] => metadata[name] as string[]
  const toReachable = (url: unknown) => String(url).replace('http://localhost:3000', app.origin)

  const keys = new Map<string, ClientKey>()
  const keyFor = async (alg: string): Promise<ClientKey> => {
    const key = keys.get(alg) ?? (await makeKey(alg))
    keys.set(alg, key)
    return key
  }
  await setUserRoles(createPlatformCtx(tenant), userId, { roles: ['admin'] })
  const jwks = { keys: await Promise.all(ASSERTION_ALGORITHMS.map(async (alg) => (await keyFor(alg)).jwk)) }
  const machine = await makeClient(tenant, {
    appType: 'machine',
    callbacks: [],
    scopes: ['users:read'],
    jwks,
  })
  const web = await makeClient(tenant, {
    jwks,
    scopes: listValues('scopes_supported').filter(
      (scope) => scope.includes(':') || ['account', 'organization'].includes(scope),
    ),
  })
  const spa = await makeClient(tenant, { appType: 'single-page' })

  /** Asserts that exactly the advertised values of a registry work. */
  async function expectExactly(
    name: string,
    registry: readonly string[],
    works: (value: string) => Promise<boolean>,
  ): Promise<void> {
    const working: string[] = []
    for (const value of registry) if (await works(value)) working.push(value)
    expect(working.sort()).toEqual([...listValues(name)].sort())
  }

  /** Calls an endpoint; reports whether the client was authenticated. */
  async function isAuthenticated(
    endpoint: (typeof ENDPOINTS)[number],
    form: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<boolean> {
    const response = await fetch(`${app.origin}/${tenant}/oidc/${endpoint}`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ grant_type: 'client_credentials', token: 'x', ...form }),
    })
    const { error } = (await response.json()) as { error?: string }
    return error !== 'invalid_client' && error !== 'unauthorized_client'
  }

  async function assertionBy(client: Client, alg: string): Promise<Record<string, string>> {
    return {
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await makeAssertion(await keyFor(alg), { clientId: client.id, audience: issuer }),
    }
  }

  async function acceptsMethod(endpoint: (typeof ENDPOINTS)[number], method: string): Promise<boolean> {
    const { id, secret } = machine
    if (method === 'client_secret_basic')
      return isAuthenticated(endpoint, {}, { authorization: basic({ id, secret }) })
    if (method === 'client_secret_post')
      return isAuthenticated(endpoint, { client_id: id, client_secret: secret })
    if (method === 'private_key_jwt') return isAuthenticated(endpoint, await assertionBy(machine, 'ES256'))
    if (method === 'none')
      return isAuthenticated(endpoint, { client_id: spa.id, grant_type: 'refresh_token' })
    // An assertion by the client secret, and a request without the certificate that tls_client_auth needs.
    return isAuthenticated(endpoint, {
      client_id: id,
      ...(method === 'client_secret_jwt' && {
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: 'eyJhbGciOiJIUzI1NiJ9.e30.x',
      }),
    })
  }
  const methodsOf = (endpoint: (typeof ENDPOINTS)[number]) => (name: string) =>
    expectExactly(name, METHODS, (method) => acceptsMethod(endpoint, method))
  const assertionsOf = (endpoint: (typeof ENDPOINTS)[number]) => (name: string) =>
    expectExactly(name, JWS, async (alg) => isAuthenticated(endpoint, await assertionBy(machine, alg)))

  /**
   * Returns the error of an authorization request, `none` when it returns a code, or the page that it shows.
   */
  const errorOf = async (more: Record<string, string | null>): Promise<string> => {
    const { answer, pages } = await plan.authorize(more)
    return answer.error ?? (answer.code ? 'none' : (pages.at(-1) as string))
  }

  /** Makes a client with these members; returns null when they are rejected. */
  async function register(more: object): Promise<Client | null> {
    return makeClient(tenant, more).catch(() => null)
  }

  async function hasDpop(alg: string): Promise<boolean> {
    const key = await keyFor(alg)
    const ask = async (nonce?: string) =>
      tokenRequest(
        app,
        tenant,
        machine,
        { grant_type: 'client_credentials' },
        {
          dpop: await makeProof(key, { method: 'POST', url: `${issuer}/oidc/token`, nonce }),
        },
      )
    const first = await ask()
    const second = await ask(first.headers.get('dpop-nonce') ?? randomUUID())
    return second.body.token_type === 'DPoP'
  }

  const answers = (allowed: number[], init?: RequestInit) => async (name: string) => {
    expect(String(metadata[name]).startsWith(`${issuer}/`)).toBe(true)
    expect(allowed).toContain(
      (await fetch(toReachable(metadata[name]), { redirect: 'manual', ...init })).status,
    )
  }
  const POST = { method: 'POST', body: new URLSearchParams({ a: 'b' }) }

  const checks: Record<string, (name: string) => Promise<void>> = {
    issuer: async () => {
      expect(metadata.issuer).toBe(issuer)
      expect((await plan.signIn()).idToken.iss).toBe(issuer)
    },
    authorization_endpoint: answers([400]),
    token_endpoint: answers([401], POST),
    userinfo_endpoint: answers([401]),
    revocation_endpoint: answers([401], POST),
    introspection_endpoint: answers([401], POST),
    pushed_authorization_request_endpoint: answers([401], POST),
    device_authorization_endpoint: answers([401], POST),
    end_session_endpoint: answers([200]),
    account_management_uri: answers([303]),
    jwks_uri: async () => {
      const { tokens } = await plan.signIn()
      const { kid } = decodeProtectedHeader(tokens.body.id_token as string)
      const jwks = (await (await fetch(toReachable(metadata.jwks_uri))).json()) as { keys: { kid: string }[] }
      expect(jwks.keys.map((key) => key.kid)).toContain(kid)
    },
    require_pushed_authorization_requests: async () => {
      expect([metadata.require_pushed_authorization_requests, await errorOf({})]).toEqual([false, 'none'])
    },
    token_endpoint_auth_methods_supported: methodsOf('token'),
    revocation_endpoint_auth_methods_supported: methodsOf('revoke'),
    introspection_endpoint_auth_methods_supported: methodsOf('introspect'),
    token_endpoint_auth_signing_alg_values_supported: assertionsOf('token'),
    revocation_endpoint_auth_signing_alg_values_supported: assertionsOf('revoke'),
    introspection_endpoint_auth_signing_alg_values_supported: assertionsOf('introspect'),
    dpop_signing_alg_values_supported: (name) => expectExactly(name, JWS, hasDpop),
    backchannel_logout_supported: async () => {
      const client = await makeClient(tenant, { backchannelLogoutUrl: receiver.urlOf('/notified') })
      const { idToken } = await plan.signIn({}, { client })
      const stop = await startDeliveriesOf(tenant)
      await revokeUserSessions(createPlatformCtx(tenant), userId)
      await receiver.waitFor('/notified')
      await stop()
      expect([metadata.backchannel_logout_supported, receiver.toldAt('/notified')]).toEqual([
        true,
        [idToken.sid],
      ])
    },
    backchannel_logout_session_supported: async () => {
      // Every ID token names its session; so does the logout token above.
      expect(metadata.backchannel_logout_session_supported).toBe(true)
      expect((await plan.signIn()).idToken.sid).toEqual(expect.any(String))
    },
    scopes_supported: async (name) => {
      const scope = [...listValues(name), 'tenants:read', 'unknown'].join(' ')
      // The scope organization is for its administrators.
      const ctx = createPlatformCtx(tenant)
      const { id: organization } = await createOrganization(ctx, { slug: 'acme', name: 'Acme' })
      await createMembership(ctx, organization, { userId, isAdministrator: true })
      const { tokens } = await plan.signIn({ scope, organization }, { client: web })
      expect((tokens.body.scope as string).split(' ').sort()).toEqual([...listValues(name)].sort())
    },
    response_types_supported: (name) =>
      expectExactly(
        name,
        ['code', 'token', 'id_token', 'code id_token', 'code token', 'id_token token', 'none'],
        async (type) => (await errorOf({ response_type: type })) !== 'unsupported_response_type',
      ),
    response_modes_supported: async (name) => {
      const client = await makeClient(tenant, { webOrigins: ['https://rp.example.com'] })
      await expectExactly(
        name,
        ['query', 'fragment', 'form_post', 'web_message', 'jwt', 'query.jwt'],
        async (mode) => {
          const path = authorizePath(tenant, client, { response_mode: mode })
          const response = await plan.browser.fetch(path)
          const sent = (response.headers.get('location') ?? '') + (await response.text())
          return /code(=|&quot;|")/.test(sent) && !sent.includes('error_description')
        },
      )
    },
    grant_types_supported: async (name) => {
      const { tokens } = await plan.signIn({ scope: 'openid offline_access', prompt: 'consent' })
      const device = await startDevice(app, tenant, plan.client, { scope: 'openid' })
      await decide(plan.browser, tenant, device.body.user_code as string, 'allow')
      const outcomes: Record<string, { status: number }> = {
        authorization_code: tokens,
        refresh_token: await refreshWith(app, tenant, plan.client, tokens.body.refresh_token as string),
        client_credentials: await tokenRequest(app, tenant, machine, { grant_type: 'client_credentials' }),
        'urn:ietf:params:oauth:grant-type:device_code': await pollWith(
          app,
          tenant,
          plan.client,
          device.body.device_code as string,
        ),
      }
      for (const other of [
        'password',
        'implicit',
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
        'urn:ietf:params:oauth:grant-type:token-exchange',
        'urn:openid:params:grant-type:ciba',
      ])
        outcomes[other] = await tokenRequest(app, tenant, plan.client, { grant_type: other })
      await expectExactly(name, Object.keys(outcomes), async (type) => outcomes[type]?.status === 200)
    },
    subject_types_supported: async (name) => {
      const other = await plan.signIn({}, { client: web })
      expect([listValues(name), other.idToken.sub]).toEqual([['public'], (await plan.signIn()).idToken.sub])
    },
    id_token_signing_alg_values_supported: (name) =>
      expectExactly(name, [...JWS, 'HS256', 'none'], async (alg) => {
        const client = await register({ idTokenSigningAlg: alg })
        if (!client) return false
        const { tokens } = await plan.signIn({}, { client })
        return decodeProtectedHeader(tokens.body.id_token as string).alg === alg
      }),
    userinfo_signing_alg_values_supported: (name) =>
      expectExactly(name, [...JWS, 'HS256', 'none'], async (alg) => {
        const client = await register({ userInfoSigningAlg: alg })
        if (!client) return false
        const { tokens } = await plan.signIn({}, { client })
        const answer = await userinfoOf(app, tenant, tokens.body.access_token as string)
        return decodeProtectedHeader(await answer.text()).alg === alg
      }),
    code_challenge_methods_supported: (name) =>
      expectExactly(name, ['plain', 'S256'], async (method) => {
        const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
        return (await errorOf({ code_challenge: challenge, code_challenge_method: method })) === 'none'
      }),
    prompt_values_supported: (name) =>
      expectExactly(
        name,
        ['none', 'login', 'consent', 'select_account', 'register'],
        async (prompt) => (await errorOf({ prompt })) !== 'invalid_request',
      ),
    display_values_supported: async (name) => {
      const shown: Record<string, string> = {}
      for (const display of ['page', 'popup', 'touch', 'wap']) {
        const { html } = await plan.authorize({ display, prompt: 'login' }, { stopAt: 'email' })
        shown[display] = html
      }
      expect(listValues(name)).toEqual(['page', 'popup', 'touch'])
      expect(shown.page).toContain('<header class="tenant">')
      expect(shown.popup).not.toContain('<header class="tenant">')
    },
    acr_values_supported: (name) =>
      expectExactly(
        name,
        [
          'urn:vestibule:federated',
          'urn:vestibule:otp',
          'urn:vestibule:mfa',
          'urn:vestibule:phishing-resistant',
          'phr',
          '1',
        ],
        async (value) => {
          const claims = JSON.stringify({ id_token: { acr: { essential: true, value } } })
          const isPasskey = value === 'phr'
          const isStronger = isPasskey || value === 'urn:vestibule:mfa'
          const { answer, html } = isStronger
            ? await plan.authorize({ claims, prompt: 'login' }, { stopAt: 'email' })
            : await plan.authorize({ claims })
          // test/oidc/signin signs in with them.
          if (isStronger) return html.includes('id="passkey"') && html.includes('id="address"') !== isPasskey
          if (answer.code) return true
          expect(answer.error).toBe('unmet_authentication_requirements')
          return false
        },
      ),
    claim_types_supported: async (name) => {
      const { tokens } = await plan.signIn({ scope: 'openid profile email' })
      const claims = await (await userinfoOf(app, tenant, tokens.body.access_token as string)).json()
      expect([listValues(name), Object.keys(claims as object)]).toEqual([
        ['normal'],
        expect.not.arrayContaining(['_claim_names']),
      ])
    },
    // claims-request.test.ts compares the list with the claims of a user who has all of them.
    claims_supported: async (name) => {
      const { idToken } = await plan.signIn({ nonce: 'n' })
      expect(listValues(name)).toEqual(expect.arrayContaining(Object.keys(idToken)))
    },
    claims_parameter_supported: async () => {
      const claims = JSON.stringify({ id_token: { email: null } })
      const { idToken } = await plan.signIn({ claims })
      expect([metadata.claims_parameter_supported, idToken.email]).toEqual([true, plan.email])
    },
    request_parameter_supported: async () => {
      const request = 'eyJhbGciOiJub25lIn0.e30.'
      expect([metadata.request_parameter_supported, await errorOf({ request })]).toEqual([
        false,
        'request_not_supported',
      ])
    },
    request_uri_parameter_supported: async () => {
      const asked = await errorOf({ request_uri: 'https://rp.example.com/request.jwt' })
      expect([metadata.request_uri_parameter_supported, asked]).toEqual([false, 'request_uri_not_supported'])
    },
    authorization_response_iss_parameter_supported: async () => {
      expect(metadata.authorization_response_iss_parameter_supported).toBe(true)
      expect((await plan.authorize()).answer.iss).toBe(issuer)
      const rejected = await plan.browser.fetch(
        authorizePath(tenant, plan.client, { response_type: 'token' }),
      )
      expect(answerIn(rejected.headers.get('location')).iss).toBe(issuer)
    },
    ui_locales_supported: async (name) => {
      const shown = []
      for (const locale of listValues(name)) {
        const request = { ui_locales: `tlh ${locale}`, prompt: 'login' }
        const { html } = await plan.authorize(request, { stopAt: 'email' })
        shown.push(/<html lang="([^"]+)"/.exec(html)?.[1])
      }
      expect(shown).toEqual(listValues(name))
    },
  }

  return { metadata, checks }
}

const MEMBERS = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'revocation_endpoint',
  'introspection_endpoint',
  'pushed_authorization_request_endpoint',
  'device_authorization_endpoint',
  'end_session_endpoint',
  'account_management_uri',
  'jwks_uri',
  'require_pushed_authorization_requests',
  'token_endpoint_auth_methods_supported',
  'revocation_endpoint_auth_methods_supported',
  'introspection_endpoint_auth_methods_supported',
  'token_endpoint_auth_signing_alg_values_supported',
  'revocation_endpoint_auth_signing_alg_values_supported',
  'introspection_endpoint_auth_signing_alg_values_supported',
  'dpop_signing_alg_values_supported',
  'backchannel_logout_supported',
  'backchannel_logout_session_supported',
  'scopes_supported',
  'response_types_supported',
  'response_modes_supported',
  'grant_types_supported',
  'subject_types_supported',
  'id_token_signing_alg_values_supported',
  'userinfo_signing_alg_values_supported',
  'code_challenge_methods_supported',
  'prompt_values_supported',
  'display_values_supported',
  'acr_values_supported',
  'claim_types_supported',
  'claims_supported',
  'claims_parameter_supported',
  'request_parameter_supported',
  'request_uri_parameter_supported',
  'authorization_response_iss_parameter_supported',
  'ui_locales_supported',
]

/** `test` with the provider metadata of the tenant and a check for each of its members. */
const test = base
  .extend('receiver', { scope: 'file' }, async ({ app: _app }, { onCleanup }) => {
    const receiver = await startLogoutReceiver()
    onCleanup(receiver.close)
    return receiver
  })
  .extend('discovery', { scope: 'file' }, ({ app, plan, planUser, receiver }) =>
    createMetadataChecks(app, plan, planUser.id, receiver),
  )

describe('the provider metadata', () => {
  test('has a check for each member', ({ discovery }) => {
    expect([...MEMBERS].sort()).toEqual(Object.keys(discovery.metadata).sort())
    expect(Object.keys(discovery.checks).sort()).toEqual([...MEMBERS].sort())
  })

  test.for(MEMBERS)('%s describes the behavior of the provider', async (name, { discovery }) => {
    await discovery.checks[name]?.(name)
  })

  test('names the issuer of access tokens', async ({ plan }) => {
    const { tokens } = await plan.signIn()
    expect(decodeJwt(tokens.body.access_token as string)).toMatchObject({
      iss: plan.issuer,
      aud: `${plan.issuer}/oidc/userinfo`,
    })
  })
})
