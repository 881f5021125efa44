import type { OAuthError } from '../../errors.ts'
import { pageOf } from '../answers.routes.ts'
import { grantAnswer } from '../authorize/authorization.ts'
import { destinationsOf } from '../authorize/redirect-uris.ts'
import { sendAnswer } from '../authorize/response-modes.routes.ts'
import { deviceEnding } from '../device/device-ending.routes.ts'
import type { RenderOptions } from '../pages/render-page.pages.tsx'
import { sendRefusal } from '../refusals.routes.ts'
import { ConsentPage, type ConsentPageProps } from './consent.pages.tsx'
import { endInteraction, type PendingRedirect } from './interactions.ts'
import type { Visit } from './signin-visit.routes.ts'

/** How a sign-in ends, by where its request wants the answer. */
export type Ending = {
  /** Where forms may lead to, beside pages of ours. */
  destinations: string[]
  /** The page that asks the person for permission. */
  ask: (props: ConsentPageProps, options: RenderOptions) => Response
  /** Gives what was asked for, ending the interaction; null when that is not possible any more. */
  grant: () => Promise<Response | null>
  /** Ends the interaction without. */
  refuse: (error: OAuthError) => Promise<Response>
}

/** At the client's redirect_uri (RFC 6749, section 4.1.2). */
const redirectEnding = ({ call, interaction, standing }: Visit, request: PendingRedirect): Ending => ({
  destinations: destinationsOf(standing.client, request.redirectUri),
  ask: (props, options) => pageOf(ConsentPage, props, options),
  grant: async () => {
    const answer = await grantAnswer(call.ctx, request, standing, interaction)
    return answer && sendAnswer(answer)
  },
  refuse: async (error) => {
    await endInteraction(call.ctx.tenant, interaction.handle)
    return sendRefusal(call, request, error)
  },
})

/** How this sign-in ends: on the device that asked for it, or at the redirect_uri. */
export function endingOf(at: Visit): Ending {
  const { request } = at.interaction
  return request.responseMode === 'device' ? deviceEnding(at, request) : redirectEnding(at, request)
}
