import type { VNode } from 'preact'
import { type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'
import { computeWaitSeconds, formatWait } from '../step/input-rejection-texts.ts'

type ResendFormProps = {
  interaction: PageInteraction
  /** When a new code can be requested; omitted when it can be now. */
  resendAllowedAt?: Date | null
  now: Date
}

/** Requests a new code. Posts `step=resend`. A script counts down to when that is possible. */
export function ResendForm({ interaction, resendAllowedAt, now }: ResendFormProps): VNode {
  const wait = formatWait(resendAllowedAt, now)
  return (
    <div>
      <StepForm interaction={interaction} step="resend">
        <button type="submit" class="quiet" id="resend" aria-describedby={wait ? 'resend-wait' : undefined}>
          Send a new code
        </button>
      </StepForm>
      {wait && (
        <>
          <p class="hint" id="resend-wait" data-seconds={computeWaitSeconds(resendAllowedAt, now)}>
            You can request a new code in {wait}.
          </p>
          <p class="hint" id="resend-ready" role="status" />
        </>
      )}
    </div>
  )
}
