import type { VNode } from 'preact'
import { type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'

/** Leads back to the client without a sign-in. Posts `step=cancel`. */
export const CancelForm = ({ interaction }: { interaction: PageInteraction }): VNode => (
  <StepForm interaction={interaction} step="cancel">
    <button type="submit" class="quiet">
      Cancel
    </button>
  </StepForm>
)
