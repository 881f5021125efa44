import type { ComponentChildren, VNode } from 'preact'
import { type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'

/** Leads back to the first page. Posts `step=restart`. */
export const RestartForm = ({
  interaction,
  children = 'Sign in another way',
}: {
  interaction: PageInteraction
  children?: ComponentChildren
}): VNode => (
  <StepForm interaction={interaction} step="restart">
    <button type="submit" class="quiet">
      {children}
    </button>
  </StepForm>
)
