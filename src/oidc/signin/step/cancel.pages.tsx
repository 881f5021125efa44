import type { VNode } from 'preact'
import type { PageInteraction } from '../../../pages/page-shell.pages.tsx'
import { StepButton } from '../../../pages/parts/controls.pages.tsx'

/** Leads back to the client without a sign-in. Posts `step=cancel`. */
export const CancelForm = ({ interaction }: { interaction: PageInteraction }): VNode => (
  <StepButton interaction={interaction} step="cancel" of="action.cancel" look="quiet" />
)
