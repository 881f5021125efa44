import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { type CachedClient, findClient } from '../../../src/access/client-cache.ts'
import { type CachedTenant, findTenant } from '../../../src/access/tenant-cache.ts'
import type { Ctx } from '../../../src/context/context.ts'
import { OAuthError } from '../../../src/core/oauth-error.ts'
import type { User } from '../../../src/generated/prisma/client.ts'
import { ACR_MFA, ACR_PHISHING_RESISTANT } from '../../../src/model/sign-in-methods.ts'
import { type AccountState, chooseAccount, findAccounts } from '../../../src/oidc/authorize/account-choice.ts'
import {
  evaluateState,
  findRequestTerms,
  type RequestTerms,
} from '../../../src/oidc/authorize/evaluate-request.ts'
import type { RequestRules } from '../../../src/oidc/authorize/parameter-checks.ts'
import { readAuthorizeRequest } from '../../../src/oidc/authorize/request-checks.ts'
import { explainSignIn, findExplainedUser } from '../../../src/oidc/explain/explain-sign-in.ts'
import { listRequestSteps } from '../../../src/oidc/explain/request-steps.ts'
import type { SignInRemedy } from '../../../src/oidc/explain/sign-in-explanation.fields.ts'
import type { ExplainedUser } from '../../../src/oidc/explain/user-methods.ts'
import { listUserSteps } from '../../../src/oidc/explain/user-steps.ts'
import type { Progress } from '../../../src/oidc/interactions/progress.ts'
import { EMPTY_REQUEST, type PendingRedirect, PROMPTS } from '../../../src/oidc/model/authorize-request.ts'
import { createSecondFactorRule } from '../../../src/oidc/signin/step/sign-in.ts'
import type { NewProof, SessionProof } from '../../../src/sessions/proofs.ts'
import { startBrowserSession } from '../../../src/sessions/sessions.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { dbFor } from '../../support/database.ts'
import { test as base } from '../../support/fixtures.ts'
import type { PageBrowser } from '../../support/page-browser.ts'
import { authorizePath, codeFor, REDIRECT_URI } from '../../support/protocol.ts'
import { hasServices } from '../../support/services.ts'
import { computeTotp, enrollTotp } from '../../support/totp.ts'

/** The cases are the same in each run. */
const SEED = 30
const OTHER_URI = 'https://rp.example.com/other'
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const TENANT = 'demo'

const optional = (...values: string[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 3 })
/** Parameters that a client sends, some of them wrong. */
const parameters = fc.record({
  redirect_uri: fc.constantFrom(REDIRECT_URI, REDIRECT_URI, REDIRECT_URI, OTHER_URI, 'app:/back', ''),
  response_type: fc.constantFrom('code', 'code', 'code', 'code', 'token', ''),
  scope: fc.constantFrom('openid', 'openid email', 'openid users:read account', 'users:read', 'none', ''),
  code_challenge: fc.constantFrom(CHALLENGE, CHALLENGE, CHALLENGE, 'short', undefined),
  code_challenge_method: fc.constantFrom('S256', 'S256', 'S256', 'plain', undefined),
  response_mode: optional('query', 'form_post', 'web_message', 'fragment'),
  prompt: optional('none', 'login', 'consent', 'create', 'none login', 'select_account', 'other'),
  max_age: optional('0', '60', 'x'),
  resource: optional('urn:orders', 'urn:x'),
  claims: optional('{', JSON.stringify({ userinfo: { phone_number: null } })),
  dpop_jkt: optional('x', CHALLENGE),
  acr_values: optional(ACR_MFA),
  login_hint: optional('ada@example.com'),
  request: optional('e30.e30.'),
})
type Parameters = Record<string, string | undefined>

const toQuery = (given: Parameters, ...more: [string, string][]): URLSearchParams =>
  new URLSearchParams([
    ...Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ...more,
  ])

const clients = fc.record({
  appType: fc.constantFrom('web', 'web', 'single-page', 'native', 'machine'),
  callbacks: fc.constantFrom([REDIRECT_URI], [REDIRECT_URI, 'app:/back'], ['app:/back']),
  webOrigins: fc.constantFrom([], ['https://rp.example.com']),
  scopes: fc.constantFrom([], ['users:read', 'account']),
  claimMappings: fc.constantFrom([], [{ scope: 'billing' }]),
  requirePushedRequests: fc.boolean(),
  requirePkce: fc.boolean(),
})

type RequestCase = { params: URLSearchParams; client: CachedClient; rules: RequestRules }

/** The error of the authorization endpoint; null for an accepted request. */
function authorize({ params, client, rules }: RequestCase): { error: string; description: string } | null {
  try {
    readAuthorizeRequest(params, client, rules)
    return null
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    return { error: error.error, description: error.message }
  }
}

/** The case after the change that a step names. */
function applyRemedy(
  { params, client, rules }: RequestCase,
  { action, parameter, value }: SignInRemedy,
): RequestCase {
  const changed = new URLSearchParams(params)
  const next = { params: changed, client: { ...client }, rules: { ...rules } }
  if (action === 'add-redirect-uri') next.client.callbacks = [...client.callbacks, String(value)]
  else if (action === 'add-web-origin') next.client.webOrigins = [...client.webOrigins, String(value)]
  else if (action === 'assign-scope') next.client.scopes = [...client.scopes, String(value)]
  else if (action === 'choose-client') next.client.appType = 'web'
  else if (action === 'push-request') next.rules.isPushed = true
  else if (action === 'declare-resource') next.rules.resources = [...rules.resources, String(value)]
  else if (action === 'open-sign-up') next.rules.prompts = PROMPTS
  else if (parameter === 'code_challenge') changed.set(parameter, CHALLENGE)
  else if (parameter !== null && value !== null) changed.set(parameter, value)
  else if (parameter !== null) changed.delete(parameter)
  else next.params = toQuery({ ...Object.fromEntries(changed), request: undefined })
  if (parameter === 'code_challenge') changed.set('code_challenge_method', 'S256')
  return next
}

const MAX_REMEDIES = 20
/** The case after the changes that the failed steps name. */
function applyRemedies(given: RequestCase): RequestCase {
  let current = given
  for (let round = 0; round < MAX_REMEDIES; round++) {
    const failed = listRequestSteps(current.params, current.client, current.rules).find(
      ({ outcome }) => outcome === 'failed',
    )
    if (!failed?.remedy) return current
    current = applyRemedy(current, failed.remedy)
  }
  return current
}

/** Settings of a tenant, of a client and of a user, and what a valid request may have. */
const settings = fc.record({
  secondFactor: fc.constantFrom('off', 'if-enrolled', 'required'),
  secondFactorRoles: fc.constantFrom([], ['support']),
  signInMethods: fc.constantFrom(
    ['passcode'],
    ['passcode', 'passkey'],
    ['passkey', 'passcode', 'provider'],
    ['passkey'],
  ),
  termsVersion: fc.constantFrom('2', null),
  defaultAudience: fc.constantFrom(null, 'urn:default'),
})
const signInClients = fc.record({
  requireConsent: fc.boolean(),
  requireSecondFactor: fc.boolean(),
  scopes: fc.constantFrom([], ['users:read', 'account']),
  defaultMaxAge: fc.constantFrom(null, 60),
})
const users = fc.record({
  locked: fc.constantFrom(false, false, false, true),
  emailVerified: fc.constantFrom(true, true, false),
  phoneNumberVerified: fc.constantFrom(false, false, true),
  roles: fc.constantFrom([], ['support'], ['admin']),
  termsVersion: fc.constantFrom('2', '1', null),
  hasSecondFactor: fc.boolean(),
})
const essential = (...values: string[]) =>
  JSON.stringify({ id_token: { acr: { essential: true, values } }, userinfo: { phone_number: null } })
const validRequests = fc.record({
  scope: fc.constantFrom('openid', 'openid email', 'openid users:read account', 'email'),
  prompt: optional('none', 'login', 'consent', 'login consent', 'select_account'),
  max_age: optional('0', '60'),
  claims: optional(
    essential(ACR_MFA),
    essential(ACR_PHISHING_RESISTANT),
    JSON.stringify({ id_token: { sub: { value: 'user_other' } } }),
  ),
  acr_values: optional(ACR_MFA),
})

const sample = <Value>(values: fc.Arbitrary<Value>, numRuns: number, seed = SEED): Value[] =>
  fc.sample(values, { numRuns, seed })

const OTP: NewProof = { method: 'passcode', amr: ['otp'] }
const TOTP: NewProof = { method: 'totp', amr: ['otp'] }

/** The tokens of a user's sessions, after one factor and after two. */
type Signed = { user: User; sessions: Record<'one' | 'two', { id: string; token: string; at: string }> }

type Given = typeof users extends fc.Arbitrary<infer Value> ? Value : never
const test = base.extend(
  'equip',
  { scope: 'file' },
  ({ ctx, newPerson }) =>
    async ({ locked, ...columns }: Given): Promise<Signed> => {
      const { id } = await newPerson()
      const start = async (proof: NewProof, first: SessionProof | null = null) => {
        const { session, token } = await ctx.db.transaction((tx) =>
          startBrowserSession(tx, ctx, { userId: id, proof, first }),
        )
        // The first proof counts as the time of the sign-in.
        return { id: session.id, token, at: first?.at ?? session.authenticatedAt.toISOString() }
      }
      const one = await start(OTP)
      const two = await start(TOTP, { ...OTP, at: new Date().toISOString() })
      const where = { tenantId_id: { tenantId: ctx.tenant, id } }
      const user = await dbFor(ctx.tenant).user.update({
        where,
        data: { ...columns, locked, roles: [...columns.roles] },
      })
      return { user, sessions: { one, two } }
    },
)

type Combination = {
  client: CachedClient
  signed: Signed
  explained: ExplainedUser
  states: States
}
/** The sessions of a user as authorize reads them; null for a locked user. */
type States = Record<'one' | 'two', AccountState | null>

/** Reads what authorize and an explanation read of a user. */
async function readStates(ctx: Ctx, client: CachedClient, { sessions }: Signed): Promise<States> {
  const request = {
    ...EMPTY_REQUEST,
    clientId: client.id,
    redirectUri: '',
    state: null,
    responseMode: 'query' as const,
  }
  const read = async ({ token }: { token: string }) => {
    const { accounts } = await findAccounts(
      ctx,
      { request, progress: {}, clientId: client.id },
      [token],
      new Date(),
    )
    return accounts.find(({ isActive }) => isActive) ?? null
  }
  return { one: await read(sessions.one), two: await read(sessions.two) }
}

/** What authorize does for a user who has signed in for the request, by one factor or by two. */
function signInForReal(request: PendingRedirect, terms: RequestTerms, { signed, states }: Combination) {
  const evaluate = (progress: Progress, state: AccountState | null) =>
    evaluateState(
      request,
      progress,
      { ...terms, provenUser: null, accounts: state ? [state] : [] },
      chooseAccount(request, progress, state ? [state] : []),
      new Date(),
    )
  const start = evaluate({}, null)
  const interaction = { handle: '', key: '', nextKey: '', request, progress: {} }
  const isTwoFactor = createSecondFactorRule({ interaction, authorization: start })(signed.user, OTP.amr)
  const factors = isTwoFactor ? 'two' : 'one'
  const { id, at } = signed.sessions[factors]
  return { start, isTwoFactor, end: evaluate({ sessionId: id, signedInAt: at }, states[factors]) }
}

/** Does what each page of a sign-in asks for. Returns the pages, and where the browser ends. */
async function signInThroughPages(by: PageBrowser, path: string, email: string, secret: string | null) {
  const pages: string[] = []
  let { response, path: at, location } = await by.open(path)
  for (let step = 0; step < 10 && location === null && response.status < 400; step++) {
    const html = await response.text()
    const page = /\/signin\/[^/]+\/([a-z-]+)/.exec(at)?.[1] ?? 'email'
    pages.push(page)
    const forms: Record<string, () => Promise<Record<string, string>> | Record<string, string>> = {
      email: () => ({ step: 'email', address: email }),
      code: async () => ({ step: 'code', code: await codeFor(email) }),
      'second-factor': () => ({ step: 'totp', code: computeTotp(secret ?? '') }),
      terms: () => ({ step: 'agree', 'terms-version': '2', terms: 'on' }),
      consent: () => ({ step: 'allow' }),
    }
    const form = forms[page]
    if (!form || (page === 'second-factor' && secret === null)) break
    ;({ response, path: at, location } = await by.submit({ html, path: at }, await form()))
  }
  return { pages, location, status: response.status }
}

describe.runIf(hasServices)('an explanation', () => {
  test('has the error of the authorization endpoint for 1,000 requests, and changes that remove it', () => {
    const rules = fc.record({
      prompts: fc.constantFrom(
        PROMPTS,
        PROMPTS.filter((prompt) => prompt !== 'create'),
      ),
      isPushed: fc.boolean(),
    })
    fc.assert(
      fc.property(parameters, clients, rules, fc.boolean(), (given, client, more, isRepeated) => {
        const requesting = {
          id: 'client_1',
          registeredBy: 'administrator',
          ...client,
        } as unknown as CachedClient
        const params = toQuery(
          { client_id: 'client_1', ...given },
          ...(isRepeated
            ? ([
                ['nonce', '1'],
                ['nonce', '2'],
              ] as [string, string][])
            : []),
        )
        const all = {
          params,
          client: requesting,
          rules: { tenant: TENANT, resources: ['urn:orders'], defaultScopes: [], ...more },
        }
        const failed = listRequestSteps(params, requesting, all.rules).find(
          ({ outcome }) => outcome === 'failed',
        )
        expect(failed ? { error: failed.error, description: failed.description } : null).toEqual(
          authorize(all),
        )
        expect(authorize(applyRemedies(all))).toBe(null)
      }),
      { numRuns: 1000, seed: SEED },
    )
  })

  test('is what authorize does for 1,000 settings, clients, users and requests', async ({
    ctx,
    equip,
    newClient,
  }) => {
    const people = await Promise.all(sample(users, 10).map(equip))
    const registered = await Promise.all(sample(signInClients, 5).map((client) => newClient(client)))
    const pairs = registered.flatMap(({ id }) => people.map((signed) => ({ id, signed })))
    const combinations = await Promise.all(
      pairs.map(async ({ id, signed }): Promise<Combination> => {
        const client = (await findClient(ctx.tenant, id)) as CachedClient
        const explained = (await findExplainedUser(ctx, signed.user.id, id, null)) as ExplainedUser
        return { client, signed, explained, states: await readStates(ctx, client, signed) }
      }),
    )
    let finished = 0
    for (const [round, chosen] of sample(settings, 20).entries()) {
      await updateSettings(ctx, {
        ...chosen,
        termsUrl: chosen.termsVersion && 'https://rp.example.com/terms',
      })
      const tenant = (await findTenant(ctx.tenant)) as CachedTenant
      const requests = sample(validRequests, combinations.length, SEED + round)
      const terms = new Map<string, RequestTerms>()
      for (const [index, combination] of combinations.entries()) {
        const { client, signed, explained } = combination
        const sent = {
          client_id: client.id,
          redirect_uri: REDIRECT_URI,
          response_type: 'code',
          ...requests[index],
        }
        const rules = {
          tenant: ctx.tenant,
          resources: [],
          prompts: PROMPTS,
          defaultScopes: [],
          isPushed: false,
        }
        const request = { ...readAuthorizeRequest(toQuery(sent), client, rules), subjectHint: null }
        const termsOfClient = terms.get(client.id) ?? (await findRequestTerms(ctx, request))
        terms.set(client.id, termsOfClient)
        const given = { request, terms: termsOfClient, tenant }
        const { steps, walk } = listUserSteps(given, explained, new Date())
        const { start, isTwoFactor, end } = signInForReal(request, termsOfClient, combination)
        const fails = (...checks: string[]) =>
          steps.some(({ check, outcome }) => outcome === 'failed' && checks.includes(check))
        const asked = steps.filter(({ outcome }) => outcome === 'asked')
        const title = `round ${round}, combination ${index}`
        expect(start.next.step, title).toBe(fails('acr', 'session') ? 'error' : 'login')
        expect(end.signInState === null, title).toBe(signed.user.locked)
        if (signed.user.locked) expect(walk, title).toBe(null)
        const isOffered = steps.some(
          ({ check, outcome, values }) => check === 'method' && outcome === 'passed' && values[0] === 'email',
        )
        if (signed.user.locked || start.next.step === 'error' || !isOffered) continue
        finished++
        expect(
          asked.some(({ check, values }) => check === 'second-factor' && values.includes('email')),
          title,
        ).toBe(isTwoFactor)
        const [next = 'issue'] = asked.map(({ check }) => check).filter((check) => check !== 'second-factor')
        expect(end.next.step, title).toBe(fails('subject') ? 'error' : next)
        expect(walk?.state.scopes ?? null, title).toEqual(fails('subject') ? null : end.scopes)
      }
    }
    expect(finished).toBeGreaterThan(200)
  })

  test('is what the pages show in eight sign-ins', async ({
    tenant,
    ctx,
    newPerson,
    newClient,
    newBrowser,
  }) => {
    const cases = fc.record({
      chosen: settings,
      more: signInClients,
      request: validRequests,
      hasTotp: fc.boolean(),
    })
    for (const { chosen, more, request, hasTotp } of sample(cases, 8)) {
      await updateSettings(ctx, {
        ...{ ...chosen, signInMethods: ['passcode'], offerPasskey: false },
        termsUrl: chosen.termsVersion && 'https://rp.example.com/terms',
      })
      const person = await newPerson()
      const secret = hasTotp ? (await enrollTotp(ctx, person.id)).secret : null
      const client = await newClient(more)
      const path = authorizePath(tenant, client, {
        ...{ code_challenge: null, code_challenge_method: null },
        ...Object.fromEntries(toQuery(request)),
      })
      const explained = await explainSignIn(ctx, {
        ...{ userId: person.id, clientId: client.id, request: `https://id.example${path}` },
      })
      const { pages, location } = await signInThroughPages(newBrowser(), path, person.email, secret)
      const asked = explained.steps.flatMap(({ check, outcome }) => (outcome === 'asked' ? [check] : []))
      const title = JSON.stringify({ chosen, more, request, hasTotp, explained, pages, location })
      const isSetup = asked.includes('second-factor') && !hasTotp
      const answer = location === null ? null : new URL(location).searchParams
      const failed = explained.steps.find(({ error }) => error !== null)
      if (failed && !isSetup) expect(answer?.get('error'), title).toBe(failed.error)
      else {
        expect(pages, title).toEqual(['email', 'code', ...(isSetup ? ['second-factor'] : asked)])
        expect([explained.succeeds, answer?.has('code') ?? false], title).toEqual([!failed, !isSetup])
      }
    }
  })
})
