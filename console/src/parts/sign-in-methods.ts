import { t } from '../words/words.ts'

/** The sign-in methods that a tenant chooses. */
export const SIGN_IN_METHODS = {
  PASSCODE: t('Code by e-mail or text message'),
  PASSKEY: t('Passkey'),
  PROVIDER: t('Identity provider'),
}
