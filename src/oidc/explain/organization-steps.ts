import type { AuthorizationState } from '../authorize/evaluate-request.ts'
import type { OwnOrganization } from '../model/authorize-request.ts'
import { permitsNetwork } from '../model/organization-demands.ts'
import type { SignInStep } from './sign-in-explanation.fields.ts'
import { createStep } from './user-methods.ts'

const CHECK = 'organization-policy'

/** A demand that the user cannot satisfy. */
const createFailure = (
  rule: 'organizationSignInMethods' | 'organizationAllowedNetworks',
  { id }: OwnOrganization,
  description: string,
  values: readonly string[],
): SignInStep =>
  createStep(CHECK, 'failed', rule, description, {
    values: [id, ...values],
    error: 'access_denied',
    remedy: { action: 'change-organization', targetId: id },
  })

function explainMethods(organization: OwnOrganization, { next }: AuthorizationState): SignInStep[] {
  const { id, signInMethods } = organization
  if (signInMethods.length === 0) return []
  const rule = 'organizationSignInMethods'
  return next.step === 'login' || (next.step === 'error' && next.rule === 'methods')
    ? [createFailure(rule, organization, 'The user can use no method of the organization.', signInMethods)]
    : [
        createStep(CHECK, 'passed', rule, 'The user can use a method of the organization.', {
          values: [id, ...signInMethods],
        }),
      ]
}

function explainLifetime(
  { id, sessionLifetimeSeconds }: OwnOrganization,
  tenantSeconds: number,
): SignInStep[] {
  if (sessionLifetimeSeconds === null) return []
  const isStricter = sessionLifetimeSeconds < tenantSeconds
  const seconds = isStricter ? sessionLifetimeSeconds : tenantSeconds
  return [
    createStep(
      CHECK,
      'passed',
      isStricter ? 'organizationSessionLifetime' : 'tenantSessionLifetime',
      `Tokens for the organization are accepted for ${seconds} s after the sign-in.`,
      { values: [id, String(seconds)] },
    ),
  ]
}

function explainNetworks(organization: OwnOrganization, ip: string | null | undefined): SignInStep[] {
  const { id, allowedNetworks } = organization
  if (allowedNetworks.length === 0) return []
  const rule = 'organizationAllowedNetworks'
  const values = [id, ...allowedNetworks]
  if (ip === undefined)
    return [createStep(CHECK, 'unknown', rule, 'The address of the user is not given.', { values })]
  return permitsNetwork(organization, ip)
    ? [createStep(CHECK, 'passed', rule, 'The organization permits the address.', { values })]
    : [createFailure(rule, organization, 'The organization does not permit the address.', allowedNetworks)]
}

/**
 * What the organization of the tokens demands of the sign-in that has led to `state`, and whether the user can satisfy it. Its
 * factors are those of the second factor. `tenantSeconds` is how long sessions of the tenant last.
 */
export function explainOrganizationPolicy(state: AuthorizationState, tenantSeconds: number): SignInStep[] {
  const { organization, next, signInState, ip } = state
  if (next.step === 'error' && next.rule === 'network')
    return (signInState?.organizations ?? []).flatMap((each) => explainNetworks(each, ip))
  if (!organization) return []
  return [
    ...explainMethods(organization, state),
    ...explainLifetime(organization, tenantSeconds),
    ...explainNetworks(organization, ip),
  ]
}
