import { toSignInOrigin } from '../../src/passcodes/passcode-origin.ts'

/** A sign-in on the hosted pages in an unknown browser: the client, and where its codes are entered. */
export const VISIT = { clientId: null, origin: toSignInOrigin('visit', null, null) }

/** Another sign-in. */
export const newVisit = (id: string, ip: string | null = null, knownBrowser: string | null = null) => ({
  clientId: null,
  origin: toSignInOrigin(id, ip, knownBrowser),
})
