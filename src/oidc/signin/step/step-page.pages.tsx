import type { ComponentChildren, VNode } from 'preact'
import {
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../../../pages/page-shell.pages.tsx'
import { StepButton } from '../../../pages/parts/controls.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'

/** Leads back to the client without a sign-in. Posts `step=cancel`. */
export const CancelForm = ({ interaction }: { interaction: PageInteraction }): VNode => (
  <StepButton interaction={interaction} step="cancel" of="action.cancel" look="quiet" />
)

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

/** The link of a message to the page where users add ways to sign in. The sign-in stays open beside it. */
export const createMethodsLink =
  ({ tenantId }: PageTenant) =>
  (parts: ComponentChildren): VNode => (
    <a href={`/${tenantId}/account/sign-in-methods`} target="_blank" rel="noopener">
      {parts}
    </a>
  )
