import type { Words } from '../../../languages/translations.ts'
import type { InputRejection, SignInPageName } from '../../interactions/progress.ts'
import { describeInputRejection } from '../step/input-rejection-texts.ts'

/** Whether a passkey was rejected. */
export const isPasskeyRejection = ({ reason }: InputRejection): boolean =>
  reason === 'passkey' || reason === 'passkeyChanged'

/** One message for every reason, so that it does not reveal why. */
function selectProblem(page: SignInPageName) {
  if (page === 'passkey' || page === 'passkey-setup') return 'problem.passkeySetup'
  return page === 'second-factor' ? 'problem.passkeyFactor' : 'problem.passkey'
}

/** The message about an input of a page that uses or creates a passkey. */
export const describePasskeyRejection = (words: Words, rejection: InputRejection): string =>
  rejection.reason === 'passkey'
    ? words.text(selectProblem(rejection.page))
    : describeInputRejection(words, rejection)
