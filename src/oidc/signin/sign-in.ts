import { asPerson, type Ctx } from '../../ctx.ts'
import { inTransaction } from '../../db.ts'
import { recordEvents, wakeReaders } from '../../events.ts'
import { SEND_COOLDOWN_SECONDS } from '../../passcodes/passcodes.sql.ts'
import { verifySignInPasscode } from '../../passcodes/passcodes.ts'
import { sendSignInPasscode } from '../../passcodes/send-passcode.ts'
import { endSession, findBrowserSession } from '../../sessions/sessions.ts'
import { after } from '../../time.ts'
import type { Standing } from '../authorize/authorization.ts'
import { upsertConsent } from './consents.sql.ts'
import { type Interaction, type Progress, saveInteraction } from './interactions.ts'

/** When another code can be asked for; null when there was none. */
export const resendAllowedAt = ({ sentAt }: Progress): Date | null =>
  sentAt ? after(new Date(sentAt), SEND_COOLDOWN_SECONDS) : null

/** Sends a code to the address and notes it. Throws what `sendSignInPasscode` throws, whoever is meant. */
export async function askForCode(ctx: Ctx, interaction: Interaction, address: string): Promise<void> {
  const { progress } = interaction
  const isRepeated = progress.address === address && (resendAllowedAt(progress) ?? new Date(0)) > new Date()
  if (isRepeated) return
  await sendSignInPasscode(ctx, address)
  const sentAt = new Date().toISOString()
  const { refusal: _, ...kept } = progress
  await saveInteraction(ctx.tenant, { ...interaction, progress: { ...kept, address, sentAt } })
}

/** Forgets the address, so that another one can be entered. */
export const forgetAddress = (ctx: Ctx, interaction: Interaction): Promise<boolean> =>
  saveInteraction(ctx.tenant, { ...interaction, progress: { isAnother: true } })

/**
 * Proves the address by its code and starts the browser session: always a new one, whose token this answers (session
 * fixation). The browser's session before it ends. Throws InvalidCredential and RateLimited.
 */
export async function signIn(
  ctx: Ctx,
  interaction: Interaction,
  code: string,
  previousToken: string | null,
): Promise<string> {
  const { clientId } = interaction.request
  const { userId, session, token } = await verifySignInPasscode(
    ctx,
    interaction.progress.address ?? '',
    code,
    clientId,
  )
  const previous = previousToken ? await findBrowserSession(ctx.tenant, previousToken) : null
  // Whosever it was: it ends by who signs in now.
  const by = asPerson(ctx, { userId, clientId, sessionId: session.id })
  if (previous) await endSession(by, previous.id, 'logout')
  const progress: Progress = { ...interaction.progress, sessionId: session.id }
  await saveInteraction(ctx.tenant, { ...interaction, progress })
  return token
}

/** Lets another person sign in instead: the request demands a new sign-in from here on. */
export const switchPerson = (ctx: Ctx, interaction: Interaction): Promise<boolean> =>
  saveInteraction(ctx.tenant, {
    ...interaction,
    request: {
      ...interaction.request,
      prompt: [...new Set([...interaction.request.prompt, 'login' as const])],
    },
    progress: { isAnother: true },
  })

/** Goes on as the person who is signed in; select_account has been answered. */
export const keepPerson = (ctx: Ctx, interaction: Interaction): Promise<boolean> =>
  saveInteraction(ctx.tenant, {
    ...interaction,
    request: {
      ...interaction.request,
      prompt: interaction.request.prompt.filter((prompt) => prompt !== 'select_account'),
    },
  })

/** Stores what the person agreed to, with its event. */
export async function giveConsent(
  ctx: Ctx,
  interaction: Interaction,
  { state, scopes, claims, client }: Standing,
  now = new Date(),
): Promise<void> {
  if (!state) return
  const { userId } = state
  const by = asPerson(ctx, { userId, clientId: client.id, sessionId: state.id })
  await inTransaction(async (sql) => {
    await upsertConsent(sql, ctx.tenant, { userId, clientId: client.id, scopes, claims, now })
    await recordEvents(sql, by, [
      {
        type: 'consent.granted',
        userId,
        sessionId: state.id,
        subjectIds: [client.id],
        detail: { scope: scopes.join(' '), ...(claims.length > 0 && { claims: claims.join(' ') }) },
      },
    ])
  })
  wakeReaders(ctx.tenant)
  await saveInteraction(ctx.tenant, {
    ...interaction,
    progress: { ...interaction.progress, consentedIn: state.id },
  })
}
