import { type ComponentChildren, type FunctionComponent, h } from 'preact'

/** A part of a page, for a page that shows parts of several features. */
export type PagePart = ComponentChildren

/** Creates a part of a page outside of a page file. */
export const createPart = <Props extends object>(
  component: FunctionComponent<Props>,
  props: NoInfer<Props>,
): PagePart => h(component, props)
