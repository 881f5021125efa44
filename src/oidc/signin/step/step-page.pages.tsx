import type { ComponentChildren, VNode } from 'preact'
import {
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
} from '../../../pages/page-shell.pages.tsx'
import { CancelForm } from './cancel.pages.tsx'

/** What every page of a sign-in shows. */
export type StepPageProps = {
  tenant: PageTenant
  client: PageClient
  interaction: PageInteraction
  /** What was wrong with the input, as a sentence. */
  error?: string | null
}

type StepShellProps = StepPageProps & {
  title: VNode | string
  lead: ComponentChildren
  /** Whether the page shows an error; by default when there is `error`. */
  isError?: boolean
  /** The other ways on, before "Cancel". A page without them has no way to cancel. */
  alternatives?: ComponentChildren
  children: ComponentChildren
}

/** The frame of a page of a sign-in. With `alternatives` it posts `step=cancel`, too. */
export const StepPage = ({
  tenant,
  client,
  interaction,
  error,
  title,
  lead,
  isError = Boolean(error),
  alternatives,
  children,
}: StepShellProps): VNode => (
  <PageShell title={title} lead={lead} tenant={tenant} client={client} isError={isError}>
    {children}
    {alternatives !== undefined && (
      <div class="alternatives">
        {alternatives}
        <CancelForm interaction={interaction} />
      </div>
    )}
  </PageShell>
)
