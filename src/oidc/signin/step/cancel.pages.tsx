import type { VNode } from 'preact'
import { type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'

/** Leads back to the client without a sign-in. Posts `step=cancel`. */
export const CancelForm = ({ interaction }: { interaction: PageInteraction }): VNode => (
  <StepForm interaction={interaction} step="cancel">
    <button type="submit" class="quiet">
      <Message of="action.cancel" />
    </button>
  </StepForm>
)
