import type { CachedTenant } from '../../access/tenant-cache.ts'
import { selectPasskeyAmr } from '../../credentials/passkeys/passkeys.ts'
import { listPossibleAmr } from '../../idps/provider/trusted-authentication.ts'
import { listSignInProviders, type SignInProvider } from '../../idps/sign-in-providers.ts'
import type { Channel } from '../../model/sign-in-methods.ts'
import { listPasscodeChannels } from '../../passcodes/passcode-channels.ts'
import { parseAddress } from '../../passcodes/passcodes.fields.ts'
import { createProof } from '../../passcodes/passcodes.ts'
import type { SignInLimit } from '../../passcodes/sign-in-limits.ts'
import { isPermittedNumber } from '../../passcodes/sms-limits.ts'
import { AMR_FEDERATED } from '../../sessions/acr.ts'
import type { NewProof } from '../../sessions/proofs.ts'
import type { OwnOrganization } from '../model/authorize-request.ts'
import { listOfferedProviders, type Offering, offersMethod } from '../signin/step/offered-methods.ts'
import type { ExplainedUserRow } from './explained-user.sql.ts'
import type {
  SignInCheck,
  SignInOutcome,
  SignInRemedy,
  SignInRule,
  SignInStep,
} from './sign-in-explanation.fields.ts'

/** A user with what decides about the user's sign-ins. Null is what the caller may not read. */
export type ExplainedUser = Pick<ExplainedUserRow, 'user' | 'signsIn' | 'consent'> & {
  hasPasskey: boolean | null
  linkedIdpIds: readonly string[] | null
  /** The organizations among which the request may choose. */
  organizations: OwnOrganization[] | null
  limits: readonly SignInLimit[]
}

type Remedy = Partial<SignInRemedy> & Pick<SignInRemedy, 'action'>

export function createStep(
  check: SignInCheck,
  outcome: SignInOutcome,
  rule: SignInRule,
  description: string,
  { values = [], remedy, error = null }: { values?: string[]; remedy?: Remedy; error?: string | null } = {},
): SignInStep {
  return {
    ...{ check, outcome, rule, values, error, description },
    remedy: remedy ? { targetId: null, parameter: null, value: null, ...remedy } : null,
  }
}

/** A method of the tenant: what it proves, and why the user cannot use it. */
type Method = { name: string; proof: NewProof; problem: Problem | null }
type Problem = { rule: SignInRule; description: string; remedy?: Remedy; isUnknown?: true }

const NOT_ENOUGH: Problem = {
  rule: 'request',
  description: 'The method does not satisfy the requested acr.',
  remedy: { action: 'change-request', parameter: 'acr_values' },
}

const createMissingMethod = (value: string): Problem => ({
  rule: 'tenantSignInMethods',
  description: 'The tenant does not offer the method.',
  remedy: { action: 'add-method', value },
})

const UNKNOWN: Pick<Problem, 'description' | 'isUnknown'> = {
  description: 'The scopes of the caller do not permit to say.',
  isUnknown: true,
}

/** Why a user gets no code by a channel; null for a user who gets one. See sendSignInPasscode. */
function findChannelProblem(
  channel: Channel,
  offering: Offering & { call: { tenant: CachedTenant } },
  explained: ExplainedUser | null,
): Problem | null {
  const { tenant } = offering.call
  if (!tenant.signInMethods.includes('passcode')) return createMissingMethod('passcode')
  if (!offersMethod(offering, 'passcode')) return NOT_ENOUGH
  if (!listPasscodeChannels(tenant).includes(channel))
    return {
      rule: 'tenantPasscodeChannels',
      description: 'The tenant sends no codes by this channel.',
      remedy: { action: 'add-channel', value: channel },
    }
  return explained && findAddressProblem(channel, tenant, explained)
}

function findAddressProblem(
  channel: Channel,
  { smsCountries }: CachedTenant,
  { user, signsIn, limits }: ExplainedUser,
): Problem | null {
  const text = channel === 'email' ? user.email : user.phoneNumber
  const address = text === null ? null : parseAddress(text)
  if (address?.channel !== channel)
    return {
      rule: 'userAddress',
      description:
        text === null
          ? `The user has no ${channel === 'email' ? 'e-mail address' : 'phone number'}.`
          : 'Nothing can be sent to the phone number: it has no country code.',
      remedy: { action: 'add-address', targetId: user.id, value: channel },
    }
  if (!signsIn[channel])
    return {
      rule: 'userAddress',
      description: 'The address is not verified, and the user has another that is.',
      remedy: { action: 'verify-address', targetId: user.id, value: channel },
    }
  if (channel === 'sms' && !isPermittedNumber(address.key, smsCountries))
    return {
      rule: 'tenantSmsCountries',
      description: 'The tenant sends no text messages to the country of the number.',
      remedy: { action: 'add-country' },
    }
  const again = limits.find((limit) => limit.channel === channel)?.codesAgainAt
  return again
    ? {
        rule: 'userSignInLimits',
        description: `Too many codes were requested. The next one is sent after ${new Date(again).toISOString()}.`,
        remedy: { action: 'reset-limits', targetId: user.id },
      }
    : null
}

function findPasskeyProblem(offering: Offering, explained: ExplainedUser | null): Problem | null {
  if (!offering.call.tenant.signInMethods.includes('passkey')) return createMissingMethod('passkey')
  if (!offersMethod(offering, 'passkey')) return NOT_ENOUGH
  if (!explained || explained.hasPasskey) return null
  if (explained.hasPasskey === null) return { rule: 'userCredentials', ...UNKNOWN }
  return {
    rule: 'userCredentials',
    description: 'The user has no passkey.',
    remedy: { action: 'enroll-passkey', targetId: explained.user.id },
  }
}

function findProviderProblem(
  { id }: SignInProvider,
  offering: Offering,
  explained: ExplainedUser | null,
): Problem | null {
  if (!offering.call.tenant.signInMethods.includes('provider')) return createMissingMethod('provider')
  if (!listSignInProviders(offering.call.tenant).some((idp) => idp.id === id))
    return {
      rule: 'provider',
      description: 'The configuration of the identity provider lacks something.',
      remedy: { action: 'complete-provider', targetId: id },
    }
  if (!listOfferedProviders(offering).some((idp) => idp.id === id)) return NOT_ENOUGH
  if (!explained || explained.linkedIdpIds?.includes(id)) return null
  if (explained.linkedIdpIds === null) return { rule: 'userIdentities', ...UNKNOWN }
  return {
    rule: 'userIdentities',
    description: 'The user has no linked identity at the provider.',
    remedy: { action: 'link-identity', targetId: id },
  }
}

const CHANNELS = ['email', 'sms'] as const

/** The methods of the tenant; with a user, whether the user can use them. */
export function listMethods(
  offering: Offering & { call: { tenant: CachedTenant } },
  explained: ExplainedUser | null,
): Method[] {
  return [
    ...CHANNELS.map((channel) => ({
      name: channel,
      proof: createProof(channel),
      problem: findChannelProblem(channel, offering, explained),
    })),
    {
      name: 'passkey',
      proof: { method: 'passkey' as const, amr: selectPasskeyAmr(true) },
      problem: findPasskeyProblem(offering, explained),
    },
    ...offering.call.tenant.idps.map((idp) => ({
      name: idp.id,
      proof: { method: 'provider' as const, amr: [AMR_FEDERATED, ...listPossibleAmr(idp)] },
      problem: findProviderProblem(idp, offering, explained),
    })),
  ]
}

export const toMethodStep = ({ name, problem }: Method): SignInStep =>
  problem
    ? createStep('method', problem.isUnknown ? 'unknown' : 'unavailable', problem.rule, problem.description, {
        values: [name],
        remedy: problem.remedy,
      })
    : createStep('method', 'passed', 'tenantSignInMethods', 'The user can use the method.', {
        values: [name],
      })
