import type { ChosenMethodName } from './sign-in-methods.ts'

/** What an organization demands of those who use tokens for it. Empty lists and null demand nothing. */
export type OrganizationPolicy = {
  signInMethods: ChosenMethodName[]
  requireSecondFactor: boolean
  sessionLifetimeSeconds: number | null
  allowedNetworks: string[]
}

/** A demand of a policy, by its field. */
export type PolicyRule = keyof OrganizationPolicy

/** The demands, in the order of the API. */
export const POLICY_RULES = [
  'signInMethods',
  'requireSecondFactor',
  'sessionLifetimeSeconds',
  'allowedNetworks',
] as const satisfies readonly PolicyRule[]

/** Whether a list that permits everything when empty permits something that the other does not. */
const permitsMore = (next: readonly string[], current: readonly string[]): boolean =>
  current.length > 0 && (next.length === 0 || next.some((entry) => !current.includes(entry)))

/** The demands that are weaker after a change. A network counts as another one unless it is spelled alike. */
export function listWeakened(current: OrganizationPolicy, next: OrganizationPolicy): PolicyRule[] {
  const isWeaker: Record<PolicyRule, boolean> = {
    signInMethods: permitsMore(next.signInMethods, current.signInMethods),
    requireSecondFactor: current.requireSecondFactor && !next.requireSecondFactor,
    sessionLifetimeSeconds:
      (next.sessionLifetimeSeconds ?? Number.POSITIVE_INFINITY) >
      (current.sessionLifetimeSeconds ?? Number.POSITIVE_INFINITY),
    allowedNetworks: permitsMore(next.allowedNetworks, current.allowedNetworks),
  }
  return POLICY_RULES.filter((rule) => isWeaker[rule])
}
