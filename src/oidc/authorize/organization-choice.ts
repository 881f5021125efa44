import { listProofs } from '../../sessions/proofs.ts'
import type { Progress } from '../interactions/progress.ts'
import type { OwnOrganization, PendingRequest } from '../model/authorize-request.ts'
import { permitsNetwork, satisfiesOrganization } from '../model/organization-demands.ts'
import type { SignInState } from './sign-in-state.sql.ts'

/**
 * Which organization the tokens of a request are for. `ask`: the user chooses. `denied`: the user is not a member of the one
 * that the request names, or of any where the client requires one. `elsewhere`: no organization in question permits the
 * network of the user.
 */
export type OrganizationChoice =
  | { outcome: 'none' | 'ask' | 'denied' | 'elsewhere'; organization: null }
  | { outcome: 'chosen'; organization: OwnOrganization }

const NONE: OrganizationChoice = { outcome: 'none', organization: null }

/**
 * Chooses the organization of a request: the one that it names, else the one that the user chose for it, else the only
 * one, else the one that the user chose last in this session, unless the request asks for an account to be selected or the
 * sign-in does not satisfy that organization. Organizations that do not permit the network of the user are left out. One
 * that the user does not belong to and one that does not exist are denied alike. Pure.
 */
export function chooseOrganization(
  { organization: demand, prompt }: Pick<PendingRequest, 'organization' | 'prompt'>,
  { organizationId }: Pick<Progress, 'organizationId'>,
  state: Pick<SignInState, 'organizations' | 'lastOrganizationId' | 'proofs' | 'amr' | 'authenticatedAt'>,
  ip: string | null | undefined,
  now: Date,
): OrganizationChoice {
  if (!demand) return NONE
  const all = state.organizations ?? []
  const organizations = all.filter((each) => permitsNetwork(each, ip))
  const remembered = prompt.includes('select_account') ? null : state.lastOrganizationId
  const signIn = { proofs: listProofs(state), ip }
  const chosen =
    organizations.length === 1
      ? organizations[0]
      : (organizations.find(({ id }) => id === organizationId) ??
        organizations.find((each) => each.id === remembered && satisfiesOrganization(each, signIn, now)))
  if (chosen) return { outcome: 'chosen', organization: chosen }
  if (organizations.length > 0) return { outcome: 'ask', organization: null }
  if (all.length > 0) return { outcome: 'elsewhere', organization: null }
  return demand.named === null && demand.mode !== 'required'
    ? NONE
    : { outcome: 'denied', organization: null }
}
