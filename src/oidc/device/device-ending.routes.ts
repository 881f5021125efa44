import { AppError } from '../../errors.ts'
import { pageOf, seeOther } from '../answers.routes.ts'
import type { Ending } from '../signin/endings.routes.ts'
import type { Visit } from '../signin/signin-visit.routes.ts'
import { DeviceConsentPage } from './device.pages.tsx'
import { approve, type DeviceRequest, deny, userCodeOf } from './device-request.ts'

/** One message whatever the reason: the code may be anybody's. */
const tooLate = () =>
  new AppError(
    'NOT_FOUND',
    410,
    'The code has expired, was used, or you were signed out meanwhile. Start again on your device.',
  )

/** At the device, which asks the token endpoint; the person stays with us (RFC 8628, section 3.3). */
export const deviceEnding = ({ call, interaction, standing }: Visit, request: DeviceRequest): Ending => ({
  destinations: [],
  ask: (props, options) => pageOf(DeviceConsentPage, { ...props, userCode: userCodeOf(request) }, options),
  grant: async () => {
    if (!(await approve(call.ctx, request, standing, interaction))) throw tooLate()
    return seeOther(`/${call.ctx.tenant}/device/approved`)
  },
  refuse: async () => {
    if (!(await deny(call.ctx, request, standing, interaction))) throw tooLate()
    return seeOther(`/${call.ctx.tenant}/device/denied`)
  },
})
