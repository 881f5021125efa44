import type { VNode } from 'preact'
import type { Words } from '../../../languages/translations.ts'
import { type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'
import { Message, useWords } from '../../../pages/parts/words.pages.tsx'
import { computeWaitSeconds, formatWaitUntil } from '../step/input-rejection-texts.ts'

/** Counts that have every plural form of a language. */
const SAMPLE_COUNTS = Array.from({ length: 120 }, (_, index) => index + 1)

/** The text of the countdown by plural form (CLDR), with # for the number. */
function listCountdownTexts({ language, text }: Words): Record<string, string> {
  const rules = new Intl.PluralRules(language)
  return Object.fromEntries(
    SAMPLE_COUNTS.map((count) => [
      rules.select(count),
      text('code.countdown', { count }).replace(String(count), '#'),
    ]),
  )
}

type ResendFormProps = {
  interaction: PageInteraction
  /** When a new code can be requested; omitted when it can be now. */
  resendAllowedAt?: Date | null
  now: Date
}

/** Requests a new code. Posts `step=resend`. A script counts down to when that is possible. */
export function ResendForm({ interaction, resendAllowedAt, now }: ResendFormProps): VNode {
  const words = useWords()
  const wait = formatWaitUntil(resendAllowedAt, now, words)
  return (
    <div>
      <StepForm interaction={interaction} step="resend">
        <button type="submit" class="quiet" id="resend" aria-describedby={wait ? 'resend-wait' : undefined}>
          <Message of="code.resend" />
        </button>
      </StepForm>
      {wait && (
        <>
          <p
            class="hint"
            id="resend-wait"
            data-seconds={computeWaitSeconds(resendAllowedAt, now)}
            data-texts={JSON.stringify(listCountdownTexts(words))}
          >
            <Message of="code.wait" wait={wait} />
          </p>
          <p class="hint" id="resend-ready" role="status" data-text={words.text('code.ready')} />
        </>
      )}
    </div>
  )
}
