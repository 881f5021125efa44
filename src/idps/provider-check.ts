import type { Ctx } from '../context/context.ts'
import { randomToken } from '../core/crypto.ts'
import { NotFound } from '../core/errors.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { PROVIDER_CAUSES, type ProviderCause } from '../model/provider-causes.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { refreshKeySet } from './answers/key-set.ts'
import { buildCallbackUrl } from './callback-url.ts'
import { requireProvider } from './external-identity.ts'
import type { Provider } from './provider/provider.ts'
import { requireWebUrl } from './provider/provider-authorization.ts'
import { redeemCode } from './provider/provider-code.ts'
import { withinSignInDeadline } from './provider/provider-deadline.ts'
import { findExplanation, toUnavailable } from './provider/provider-errors.ts'
import { type EndpointName, findEndpoint, findMetadata } from './provider/provider-metadata.ts'
import { RejectedGrant } from './provider/provider-token-request.ts'
import { SECRET_ALGORITHM } from './provider/provider-types.ts'
import {
  type Finding,
  type ProviderCheck,
  type ProviderTest,
  ProviderTestInput,
} from './provider-check.fields.ts'
import { findProviderRow } from './sign-in-providers.ts'

const toFinding = (
  check: ProviderCheck,
  status: Finding['status'],
  description: string,
  cause: ProviderCause | null = null,
): Finding => ({ check, status, cause, description })

/** Runs a check within the time that a sign-in has. An error of the provider is a finding. */
async function runCheck(check: ProviderCheck, run: () => Promise<Finding | string>): Promise<Finding> {
  try {
    const found = await withinSignInDeadline(run)
    return typeof found === 'string' ? toFinding(check, 'passed', found) : found
  } catch (error) {
    const explanation = findExplanation(error)
    if (!explanation) throw error
    return toFinding(check, 'failed', explanation.diagnostics ?? explanation.cause, explanation.cause)
  }
}

async function findKeys(provider: Provider): Promise<string> {
  const { idTokenSigningKey, idTokenSigningAlg, clientSecret } = provider.row
  if (idTokenSigningKey) return 'idTokenSigningKey is set.'
  if (idTokenSigningAlg === SECRET_ALGORITHM) {
    if (!clientSecret) throw toUnavailable('fields missing', 'clientSecret')
    return 'The clientSecret is the key.'
  }
  const url = await findEndpoint(provider, 'jwksUri')
  if (!url) throw toUnavailable('endpoint missing', 'jwksUri')
  await refreshKeySet(url)
  return `${url} has keys.`
}

async function findRequiredEndpoint(provider: Provider, name: EndpointName): Promise<string> {
  const url = await findEndpoint(provider, name)
  if (!url) throw toUnavailable('endpoint missing', name)
  requireWebUrl(url)
  return `It is ${url}.`
}

async function checkUserInfo(provider: Provider): Promise<Finding | string> {
  if (!provider.type.idToken) return findRequiredEndpoint(provider, 'userInfoEndpoint')
  const url = await findEndpoint(provider, 'userInfoEndpoint')
  return url
    ? `It is ${url}.`
    : toFinding('userinfo', 'unknown', 'There is none. Claims come from the ID token alone.')
}

/** Errors that some providers return for a code that is not one of theirs, before they look at the client. */
const ABOUT_CODE: readonly (string | null)[] = ['invalid_request', null]

/** Redeems a code that does not exist: a client that the provider accepts gets the error `invalid_grant`. */
async function checkClient(provider: Provider): Promise<Finding | string> {
  const { row } = provider
  try {
    await redeemCode(provider, {
      code: randomToken(),
      redirectUri: buildCallbackUrl(row.tenantId, row.id),
      codeVerifier: row.usePkce ? randomToken() : null,
    })
  } catch (error) {
    if (!(error instanceof RejectedGrant)) throw error
    if (error.error === 'invalid_grant') return 'The provider accepts client id and secret.'
    if (!ABOUT_CODE.includes(error.error) && PROVIDER_CAUSES[error.explanation.cause] === 'misconfigured')
      return toFinding('client', 'failed', `The provider answers ${error.error}.`, error.explanation.cause)
  }
  return toFinding('client', 'unknown', 'The answer of the provider does not tell whether it accepts them.')
}

/** Asks a provider what a sign-in needs. The checks after the first failed one of fields and discovery would repeat it. */
async function collectFindings(load: () => Provider): Promise<Finding[]> {
  let loaded: Provider | undefined
  const findings = [
    await runCheck('fields', async () => {
      loaded = load()
      return 'No field is missing.'
    }),
  ]
  const provider = loaded
  if (!provider) return findings
  const { row, type } = provider
  if (type.discovers && row.issuer) {
    const found = await runCheck('discovery', async () => {
      await findMetadata(provider, { forceRefresh: true })
      return `The metadata of ${row.issuer} can be used.`
    })
    findings.push(found)
    if (found.status === 'failed') return findings
  }
  if (type.idToken) findings.push(await runCheck('keys', () => findKeys(provider)))
  findings.push(
    await runCheck('authorization', () => findRequiredEndpoint(provider, 'authorizationEndpoint')),
    await runCheck('token', () => findRequiredEndpoint(provider, 'tokenEndpoint')),
    await runCheck('userinfo', () => checkUserInfo(provider)),
  )
  if (findings.some(({ check, status }) => check === 'token' && status === 'failed')) return findings
  return [...findings, await runCheck('client', () => checkClient(provider))]
}

/**
 * Tests an identity provider as far as it can be without a user: its fields, metadata, keys and endpoints, and whether it
 * accepts our client. Each check has 3 s. Nothing is changed; the test is recorded. Throws
 * InvalidInput and NotFound.
 */
export async function testIdentityProvider(
  ctx: Ctx,
  idpId: string,
  input: unknown = {},
): Promise<ProviderTest> {
  parseInput(ProviderTestInput, input)
  const row = await findProviderRow(ctx.db, idpId)
  if (!row) throw new NotFound('identity provider')
  const findings = await collectFindings(() => requireProvider(row))
  const succeeded = findings.every(({ status }) => status !== 'failed')
  await recordEvents(ctx.db, ctx, [
    createEvent('idp.tested', { idpId, organizationId: row.organizationId }, { succeeded }),
  ])
  return { succeeded, findings }
}
