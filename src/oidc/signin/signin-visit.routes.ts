import { randomToken } from '../../crypto.ts'
import { AppError } from '../../errors.ts'
import { pageOf, seeOther } from '../answers.routes.ts'
import { expectedAddress, type Standing, standingOf } from '../authorize/authorization.ts'
import type { Call } from '../call.routes.ts'
import { INTERACTION_COOKIE, readCookie, SESSION_COOKIE, setCookie } from '../cookies.ts'
import type { RenderOptions } from '../pages/render-page.pages.tsx'
import { endingOf } from './endings.routes.ts'
import {
  csrfOf,
  findInteraction,
  INTERACTION_LIFETIME_SECONDS,
  type Interaction,
  type Refusal,
} from './interactions.ts'
import { asksOf, asksOfClaims } from './scope-words.ts'
import { SelectPage } from './select.pages.tsx'
import { resendAllowedAt } from './sign-in.ts'
import { CodePage, EmailPage, refusalWords } from './signin.pages.tsx'

/** The pages of a sign-in, in the order that a person sees them; the path's last segment. */
export const PAGES = ['email', 'code', 'select', 'consent'] as const
export type PageName = (typeof PAGES)[number]
export const PATHS: Record<PageName, string> = {
  email: '',
  code: '/code',
  select: '/select',
  consent: '/consent',
}

/** The cookie that binds interactions to this browser; an existing one goes on, for the sake of other tabs. */
export function bindBrowser(tenant: string, known: string | null): { key: string; cookie: string } {
  const key = known ?? randomToken()
  return { key, cookie: setCookie(tenant, INTERACTION_COOKIE, key, INTERACTION_LIFETIME_SECONDS) }
}

/** One message whatever the reason: it must not say whether a handle exists. */
export const gone = () =>
  new AppError(
    'NOT_FOUND',
    410,
    'This sign-in has expired, was finished, or was started in another browser. Go back to the application and sign in again.',
  )

export type Visit = { call: Call; interaction: Interaction; standing: Standing; sessionToken: string | null }

/** Finds out where the visitor's sign-in stands. Throws when this browser has none with this handle. */
export async function visit(call: Call): Promise<Visit> {
  const { event, ctx } = call
  const cookies = event.req.headers.get('cookie')
  const sessionToken = readCookie(cookies, SESSION_COOKIE)
  const interaction = await findInteraction(
    ctx.tenant,
    event.context.params?.handle ?? '',
    readCookie(cookies, INTERACTION_COOKIE),
  )
  if (!interaction) throw gone()
  call.isOf(interaction.request.clientId)
  const standing = await standingOf(ctx, interaction.request, interaction.progress, sessionToken)
  return { call, interaction, standing, sessionToken }
}

const pathOf = ({ call, interaction }: Visit, page: PageName): string =>
  `/${call.ctx.tenant}/signin/${interaction.handle}${PATHS[page]}`

/** Sends the browser to where the sign-in stands. */
export const goOn = (at: Visit, page: PageName = 'email', cookies: string[] = []): Response =>
  seeOther(pathOf(at, page), cookies)

/**
 * What the forms of a page are bound to: this sign-in, in this browser; and, where somebody decides, who that was, since another
 * tab may have signed in somebody else meanwhile, and what they were asked, since a role may have come meanwhile.
 */
export function boundTo({ call, interaction, standing }: Visit, page: PageName): string[] {
  const isDecision = page === 'consent' || page === 'select'
  const { state, scopes, claims } = standing
  const decision = isDecision ? [state?.id ?? '', scopes.join(' '), claims.join(' ')] : []
  return [call.ctx.tenant, interaction.handle, interaction.key, ...decision]
}

/** What was refused on this page just now. */
const refusalOn = (page: PageName, { refusal }: Interaction['progress']): Refusal | null =>
  refusal?.page === page ? refusal : null

/** The page as it stands, with what is wrong, if anything. */
export function render(at: Visit, page: PageName): Response {
  const { call, interaction, standing } = at
  const { request, progress } = interaction
  const ending = endingOf(at)
  const form = {
    action: pathOf(at, page),
    csrf: csrfOf('signin', ...boundTo(at, page)),
  }
  const refusal = refusalOn(page, progress)
  const fault = refusal && refusalWords(refusal)
  const common = { tenant: call.tenant, client: standing.client, interaction: form, fault }
  const options: RenderOptions = {
    formActionOrigins: ending.destinations,
    isPopup: request.display === 'popup',
  }
  if (page === 'select') return pageOf(SelectPage, { ...common, person: standing.state ?? {} }, options)
  if (page === 'consent')
    return ending.ask(
      {
        ...common,
        person: standing.state ?? {},
        asks: [...asksOf(standing.scopes), ...asksOfClaims(standing.claims)],
      },
      options,
    )
  const expected = progress.isAnother ? null : expectedAddress(request, standing.state)
  const address = refusal?.entered ?? progress.address ?? expected
  return page === 'code'
    ? pageOf(
        CodePage,
        { ...common, address: address ?? '', resendAllowedAt: resendAllowedAt(progress) },
        options,
      )
    : pageOf(EmailPage, { ...common, address }, options)
}
