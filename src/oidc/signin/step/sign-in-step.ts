import type { TenantCall } from '../../../access/endpoint.http.ts'
import type { SentForm } from '../../../pages/form-answers.ts'
import type { AuthorizationState } from '../../authorize/evaluate-request.ts'
import type { Interaction } from '../../interactions/interactions.ts'
import type { PresentedPasskey } from './presented-passkey.sql.ts'

/** The user who has signed in, and the new token of the session. */
export type EnteredAccount = { userId: string; token: string }

/** A form of a sign-in that was sent, and the request that sent it. */
export type SentStep = SentForm & { call: TenantCall }

/** A request of a sign-in page, with its interaction and what the browser's session permits. */
export type SignInStep = {
  call: TenantCall
  interaction: Interaction
  authorization: AuthorizationState
  /** The session tokens that the browser sent. */
  tokens: readonly string[]
  /** The form that this request sent; null for a page. */
  sent: SentStep | null
  /** The passkey that the form presents; null if it presents none that is stored. */
  passkey: PresentedPasskey | null
}
