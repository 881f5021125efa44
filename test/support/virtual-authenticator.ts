import type { BrowserContext } from 'playwright-core'
import { collectPageErrors } from './page-errors.ts'

/**
 * Opens a page in a browser whose device has a screen lock; user verification succeeds or fails. With `isSynchronized`, its
 * passkeys are backed up.
 */
export async function openWithDevice(context: BrowserContext, isUserVerified = true, isSynchronized = false) {
  const page = await context.newPage()
  const errors = collectPageErrors(page)
  const device = await context.newCDPSession(page)
  await device.send('WebAuthn.enable')
  const { authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
      defaultBackupEligibility: isSynchronized,
      defaultBackupState: isSynchronized,
    },
  })
  return { page, device, authenticatorId, errors }
}
