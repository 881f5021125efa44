import { AppError } from '../../core/errors.ts'
import { redirectTo, renderComponent } from '../../pages/responses.http.ts'
import type { DeviceRequest } from '../model/authorize-request.ts'
import type { CompletionStrategy } from '../signin/completion.http.ts'
import type { SignInStep } from '../signin/step/sign-in-step.ts'
import { DeviceConsentPage } from './device.pages.tsx'
import { approveDeviceRequest, denyDeviceRequest, unsealUserCode } from './device-request.ts'

/** One message for every reason, because the code may be another user's. */
const createExpiredCodeError = () =>
  new AppError(
    'NOT_FOUND',
    410,
    'The code has expired or was used, or you have been signed out. Start again on your device.',
  )

/**
 * Answers at the device, which polls the token endpoint; the browser stays on a hosted page (RFC 8628,
 * section 3.3).
 */
export const createDeviceCompletion = (
  { call, interaction, authorization }: SignInStep,
  request: DeviceRequest,
): CompletionStrategy => ({
  leadsElsewhere: false,
  renderConsent: (props, options) =>
    renderComponent(call.ctx, DeviceConsentPage, { ...props, userCode: unsealUserCode(request) }, options),
  complete: async () => {
    if (!(await approveDeviceRequest(call.ctx, request, authorization, interaction)))
      throw createExpiredCodeError()
    return redirectTo(`/${call.ctx.tenant}/device/approved`)
  },
  reject: async () => {
    if (!(await denyDeviceRequest(call.ctx, request, authorization, interaction)))
      throw createExpiredCodeError()
    return redirectTo(`/${call.ctx.tenant}/device/denied`)
  },
})
