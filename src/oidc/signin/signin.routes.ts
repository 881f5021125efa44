import type { H3 } from 'h3'
import { Forbidden, InvalidCredential, InvalidInput, OAuthError, RateLimited } from '../../errors.ts'
import { readForm } from '../../http.ts'
import { BROWSER_LIFETIME_SECONDS } from '../../sessions/sessions.ts'
import { after } from '../../time.ts'
import { errorPage, withCookies } from '../answers.routes.ts'
import { stepError } from '../authorize/explain-step.ts'
import { addRoute, type Call } from '../call.routes.ts'
import { INTERACTION_COOKIE, SESSION_COOKIE, setCookie } from '../cookies.ts'
import { endingOf } from './endings.routes.ts'
import {
  dropRefusal,
  INTERACTION_LIFETIME_SECONDS,
  isCsrf,
  noteRefusal,
  type Refusal,
} from './interactions.ts'
import { askForCode, forgetAddress, giveConsent, keepPerson, signIn, switchPerson } from './sign-in.ts'
import {
  boundTo,
  gone,
  goOn,
  PAGES,
  PATHS,
  type PageName,
  render,
  type Visit,
  visit,
} from './signin-visit.routes.ts'

/** The hosted pages: address, code, consent. Where a person belongs is decided anew with each request, so that going
 *  back, sending twice and several tabs end on a page that makes sense. */
export function addSignInRoutes(app: H3): void {
  for (const page of PAGES)
    addRoute(
      app,
      `/:tenant/signin/:handle${PATHS[page]}`,
      { GET: (call) => show(call, page), POST: (call) => submit(call, page) },
      errorPage,
      'authorize.refused',
    )
}

async function show(call: Call, asked: PageName): Promise<Response> {
  const at = await visit(call)
  const { interaction, standing } = at
  const { key } = interaction
  const cookies = [setCookie(call.ctx.tenant, INTERACTION_COOKIE, key, INTERACTION_LIFETIME_SECONDS)]
  const { next } = standing
  if (next.step === 'issue') return issue(at, cookies)
  if (next.step === 'error')
    return endingOf(at).refuse(stepError(next, interaction.request, standing, at.sessionToken !== null))
  const belongs = pageFor(at, asked)
  if (belongs !== asked) return goOn(at, belongs, cookies)
  if (interaction.progress.refusal) await dropRefusal(call.ctx.tenant, interaction)
  return withCookies(render(at, asked), cookies)
}

/** While a person signs in, both pages of that are at hand: the back button leads from the code to the address. */
function pageFor({ interaction, standing }: Visit, asked: PageName): PageName {
  const { step } = standing.next
  if (step === 'consent' || step === 'select') return step
  return asked === 'code' && interaction.progress.address ? 'code' : 'email'
}

async function issue(at: Visit, cookies: string[]): Promise<Response> {
  const answer = await endingOf(at).grant()
  if (!answer) throw gone()
  return withCookies(answer, cookies)
}

type Step = (at: Visit, form: Record<string, string>) => Promise<Response>

/** What each form of the pages does, by its `step`, where in the sign-in it has a meaning. */
const FORMS: Record<string, Record<string, Step>> = {
  login: { email: enterAddress, code: enterCode, resend, restart },
  select: { continue: keepAccount, switch: switchAccount },
  consent: { allow, deny, switch: switchAccount },
}

async function submit(call: Call, page: PageName): Promise<Response> {
  const form = await readForm(call.event)
  const at = await visit(call)
  if (!isCsrf(form.csrf, 'signin', ...boundTo(at, page)))
    throw new Forbidden('This page was out of date. Go back, reload it and try again.')
  const forms = FORMS[at.standing.next.step] ?? {}
  // Sent twice, or from a page that the sign-in has left behind: go on from where it stands.
  if (!Object.hasOwn(forms, form.step ?? '')) return goOn(at)
  return (forms[form.step as string] as Step)(at, form)
}

/** What is wrong with a refused input, the same for whatever address; anything else is not for these pages. */
function refusalOf(error: unknown): Pick<Refusal, 'reason' | 'retryAt'> {
  if (error instanceof InvalidInput) return { reason: 'address' }
  if (error instanceof InvalidCredential) return { reason: 'code' }
  if (error instanceof RateLimited)
    return { reason: 'attempts', retryAt: after(new Date(), error.retryAfterSeconds).toISOString() }
  throw error
}

/** Goes on to the page that says what is wrong: rendered as the answer to a form, the back button would send it again. */
async function refuse(
  at: Visit,
  page: Refusal['page'],
  error: unknown,
  more: Pick<Refusal, 'entered'> = {},
): Promise<Response> {
  await noteRefusal(at.call.ctx.tenant, at.interaction, { page, ...refusalOf(error), ...more })
  return goOn(at, page)
}

async function sendCode(at: Visit, address: string, page: Refusal['page']): Promise<Response> {
  try {
    await askForCode(at.call.ctx, at.interaction, address)
  } catch (error) {
    return refuse(at, page, error, page === 'email' ? { entered: address } : {})
  }
  return goOn(at, 'code')
}

async function enterAddress(at: Visit, form: Record<string, string>): Promise<Response> {
  return sendCode(at, (form.address ?? '').trim(), 'email')
}

async function resend(at: Visit): Promise<Response> {
  const { address } = at.interaction.progress
  return address ? sendCode(at, address, 'code') : goOn(at)
}

async function restart(at: Visit): Promise<Response> {
  await forgetAddress(at.call.ctx, at.interaction)
  return goOn(at)
}

async function enterCode(at: Visit, form: Record<string, string>): Promise<Response> {
  const { ctx } = at.call
  if (!at.interaction.progress.address) return goOn(at)
  let token: string
  try {
    token = await signIn(ctx, at.interaction, form.code ?? '', at.sessionToken)
  } catch (error) {
    return refuse(at, 'code', error)
  }
  return goOn(at, 'email', [setCookie(ctx.tenant, SESSION_COOKIE, token, BROWSER_LIFETIME_SECONDS)])
}

async function allow(at: Visit): Promise<Response> {
  await giveConsent(at.call.ctx, at.interaction, at.standing)
  return goOn(at)
}

async function deny(at: Visit): Promise<Response> {
  return endingOf(at).refuse(new OAuthError('access_denied', 'The person did not consent.'))
}

async function keepAccount(at: Visit): Promise<Response> {
  await keepPerson(at.call.ctx, at.interaction)
  return goOn(at)
}

async function switchAccount(at: Visit): Promise<Response> {
  await switchPerson(at.call.ctx, at.interaction)
  return goOn(at)
}
