import { consumeLimit } from '../../../coordination/rate-limits.ts'
import { Conflict, InvalidInput } from '../../../core/errors.ts'
import { toAppError } from '../../../core/to-app-error.ts'
import { ACCEPT_CH, describeDevice } from '../../../credentials/device.ts'
import type { RenderOptions } from '../../../pages/render-page.pages.tsx'
import type { InputRejection } from '../../interactions/progress.ts'
import { toAttemptsRejection } from '../step/input-rejection-texts.ts'
import { redirectToPage, rejectInput } from '../step/sign-in-step.http.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import type { CreatedPasskey } from './passkey-offer.ts'

/** The options of a page that creates a passkey: it has a script, and asks for a description of the device. */
export const toCreationOptions = (options: RenderOptions): RenderOptions => ({
  ...options,
  runsScript: true,
  headers: { ...options.headers, 'accept-ch': ACCEPT_CH },
})

function toInputRejection(page: InputRejection['page'], thrown: unknown): InputRejection {
  // A passkey that is registered violates a unique key.
  const error = toAppError(thrown)
  if (error instanceof InvalidInput || error instanceof Conflict) return { page, reason: 'passkey' }
  return { page, ...toAttemptsRejection(thrown) }
}

/**
 * Handles the form with a created passkey: `store` stores it and returns cookies. A passkey that is not accepted leads
 * back to `page`. Counts in the limit of the network.
 */
export async function handlePasskeyCreation(
  signIn: SignInStep,
  form: Record<string, string>,
  page: InputRejection['page'],
  store: (created: CreatedPasskey) => Promise<string[]>,
): Promise<Response> {
  const { ctx, event } = signIn.call
  const device = describeDevice(ctx.tenant, event.req.headers, { ip: ctx.ip, now: new Date() })
  try {
    await consumeLimit('enrollCredential', ctx.tenant, ctx.ip)
    const cookies = await store({ registration: form.registration ?? '', device })
    return redirectToPage(signIn, 'email', cookies)
  } catch (error) {
    return rejectInput(signIn, toInputRejection(page, error))
  }
}
