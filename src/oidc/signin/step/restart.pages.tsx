import type { ComponentChildren, VNode } from 'preact'
import { type PageInteraction, StepForm } from '../../../pages/page-shell.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'

/** Leads back to the first page. Posts `step=restart`. */
export const RestartForm = ({
  interaction,
  children = <Message of="code.otherWay" />,
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
