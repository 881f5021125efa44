import { isAllowedFrom } from '../../access/api-keys/find-api-key.ts'
import { addSeconds } from '../../core/time.ts'
import type { OrganizationPolicy } from '../../model/organization-policy.ts'
import type { SignInMethodName } from '../../model/sign-in-methods.ts'
import { isSecondFactor, type SessionProof } from '../../sessions/proofs.ts'
import { selectAuthentication } from './authentication.ts'

/** Whether tokens for an organization may come from a sign-in by the method; any without an organization. */
export const permitsMethod = (
  organization: Pick<OrganizationPolicy, 'signInMethods'> | null,
  method: SignInMethodName,
): boolean =>
  !organization?.signInMethods.length ||
  (organization.signInMethods as readonly SignInMethodName[]).includes(method)

/** The proofs of a session that count for an organization. */
export const selectCountingProofs = (
  organization: Pick<OrganizationPolicy, 'signInMethods'> | null,
  proofs: readonly SessionProof[],
): SessionProof[] =>
  proofs.filter(
    (proof) => isSecondFactor(proof) || permitsMethod(organization, proof.method as SignInMethodName),
  )

/** Whether an organization permits the address of a person; undefined is any. */
export const permitsNetwork = (
  organization: Pick<OrganizationPolicy, 'allowedNetworks'>,
  ip: string | null | undefined,
): boolean => ip === undefined || isAllowedFrom(organization, ip)

/** Whether the proofs of a session, and the address of its person, satisfy what an organization demands. */
export function satisfiesOrganization(
  organization: OrganizationPolicy,
  { proofs, ip }: { proofs: readonly SessionProof[]; ip: string | null | undefined },
  now: Date,
): boolean {
  const { sessionLifetimeSeconds: lifetime, requireSecondFactor: isTwoFactor } = organization
  const demand = { claims: null, since: lifetime === null ? null : addSeconds(now, -lifetime), isTwoFactor }
  return (
    permitsNetwork(organization, ip) &&
    selectAuthentication(selectCountingProofs(organization, proofs), demand) !== null
  )
}
