import type { H3 } from 'h3'
import { Forbidden, InvalidCredential, InvalidInput, RateLimited } from '../errors.ts'
import { readForm } from '../http.ts'
import { BROWSER_LIFETIME_SECONDS } from '../sessions/sessions.ts'
import { addRoute, type Call, errorPage, seeOther, withCookies } from './answers.routes.ts'
import { errorLocation, successLocation } from './authorization.ts'
import { INTERACTION_COOKIE, SESSION_COOKIE, setCookie } from './cookies.ts'
import { endInteraction, INTERACTION_LIFETIME_SECONDS, isCsrf } from './interactions.ts'
import { askForCode, forgetAddress, giveConsent, keepPerson, signIn, switchPerson } from './sign-in.ts'
import { gone, goOn, PAGES, PATHS, type PageName, render, type Visit, visit } from './signin-visit.routes.ts'

/** The hosted pages: address, code, consent. Where a person belongs is decided anew with each request, so that going
 *  back, sending twice and several tabs end on a page that makes sense. */
export function addSignInRoutes(app: H3): void {
  for (const page of PAGES)
    addRoute(
      app,
      `/:tenant/signin/:handle${PATHS[page]}`,
      { GET: (call) => show(call, page), POST: submit },
      errorPage,
    )
}

async function show(call: Call, asked: PageName): Promise<Response> {
  const at = await visit(call)
  const { interaction, standing } = at
  const { key } = interaction
  const cookies = [setCookie(call.ctx.tenant, INTERACTION_COOKIE, key, INTERACTION_LIFETIME_SECONDS)]
  const { next } = standing
  if (next.step === 'issue') return issue(at, cookies)
  if (next.step === 'error') {
    await endInteraction(call.ctx.tenant, interaction.handle)
    return seeOther(errorLocation(call.ctx.tenant, interaction.request, next.error, next.description))
  }
  const belongs = pageFor(at, asked)
  return belongs === asked ? withCookies(render(at, asked), cookies) : goOn(at, belongs, cookies)
}

/** While a person signs in, both pages of that are at hand: the back button leads from the code to the address. */
function pageFor({ interaction, standing }: Visit, asked: PageName): PageName {
  const { step } = standing.next
  if (step === 'consent' || step === 'select') return step
  return asked === 'code' && interaction.progress.address ? 'code' : 'email'
}

async function issue(at: Visit, cookies: string[]): Promise<Response> {
  const { call, interaction, standing } = at
  const location = await successLocation(call.ctx, interaction.request, standing, interaction)
  if (!location) throw gone()
  return seeOther(location, cookies)
}

type Step = (at: Visit, form: Record<string, string>) => Promise<Response>

/** What each form of the pages does, by its `step`, where in the sign-in it has a meaning. */
const FORMS: Record<string, Record<string, Step>> = {
  login: { email: enterAddress, code: enterCode, resend, restart },
  select: { continue: keepAccount, switch: switchAccount },
  consent: { allow, deny, switch: switchAccount },
}

async function submit(call: Call): Promise<Response> {
  const form = await readForm(call.event)
  const at = await visit(call)
  const { handle, key } = at.interaction
  if (!isCsrf(form.csrf, 'signin', call.ctx.tenant, handle, key))
    throw new Forbidden('This page was out of date. Go back, reload it and try again.')
  const forms = FORMS[at.standing.next.step] ?? {}
  // Sent twice, or from a page that the sign-in has left behind: go on from where it stands.
  if (!Object.hasOwn(forms, form.step ?? '')) return goOn(at)
  return (forms[form.step as string] as Step)(at, form)
}

const waitWords = (seconds: number): string =>
  seconds <= 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`

/** What a person is told of a refused input, the same for whatever address; anything else is not for this page. */
function faultOf(error: unknown): { words: string; status: number } {
  if (error instanceof InvalidInput)
    return { words: 'Enter an email address, such as you@example.com.', status: 400 }
  if (error instanceof InvalidCredential)
    return { words: 'That code is wrong or has expired. Check it, or ask for a new one.', status: 400 }
  if (error instanceof RateLimited)
    return { words: `Too many attempts. Try again in ${waitWords(error.retryAfterSeconds)}.`, status: 429 }
  throw error
}

async function sendCode(at: Visit, address: string, page: PageName): Promise<Response> {
  try {
    await askForCode(at.call.ctx, at.interaction, address)
  } catch (error) {
    const { words, status } = faultOf(error)
    const progress = { ...at.interaction.progress, address }
    return render({ ...at, interaction: { ...at.interaction, progress } }, page, words, status)
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
    const { words, status } = faultOf(error)
    return render(at, 'code', words, status)
  }
  return goOn(at, 'email', [setCookie(ctx.tenant, SESSION_COOKIE, token, BROWSER_LIFETIME_SECONDS)])
}

async function allow(at: Visit): Promise<Response> {
  await giveConsent(at.call.ctx, at.interaction, at.standing)
  return goOn(at)
}

async function deny(at: Visit): Promise<Response> {
  const { ctx } = at.call
  const { request, handle } = at.interaction
  await endInteraction(ctx.tenant, handle)
  return seeOther(errorLocation(ctx.tenant, request, 'access_denied', 'The person did not consent.'))
}

async function keepAccount(at: Visit): Promise<Response> {
  await keepPerson(at.call.ctx, at.interaction)
  return goOn(at)
}

async function switchAccount(at: Visit): Promise<Response> {
  await switchPerson(at.call.ctx, at.interaction)
  return goOn(at)
}
