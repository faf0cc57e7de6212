// The types of what `#jsx` in package.json leads to, which is Preact. Its own types declare those of browsers, and then
// names such as `status` or `open` would be known everywhere.

/** The content of an element. */
export type Children = Markup | string | number | boolean | null | undefined | readonly Children[]

/** A page or a part of one. */
export interface Markup {
  readonly type: unknown
  readonly props: object
}

/** The names that the compiler asks for. */
export namespace JSX {
  export type Element = Markup
  export interface ElementChildrenAttribute {
    children: Children
  }
  export interface IntrinsicAttributes {
    key?: string | number
  }
  export interface IntrinsicElements {
    [tag: string]: { children?: Children; [attribute: string]: Children }
  }
}

export declare const Fragment: (props: { children?: Children }) => Markup
export declare const jsx: (type: unknown, props: object, key?: string | number) => Markup
export declare const jsxs: typeof jsx
