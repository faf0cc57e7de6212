// The types of `#jsx` in package.json, which is Preact. Preact's own types would load the types of browsers, which
// declare global names such as `status` and `open`.

/** The content of an element. */
export type Children = Markup | string | number | boolean | null | undefined | readonly Children[]

/** A page or a part of one. */
export interface Markup {
  readonly type: unknown
  readonly props: object
}

/** The value of `dangerouslySetInnerHTML`: markup of our own, such as an icon. Never text of a client. */
export interface RawHtml {
  __html: string
}

/** The types that the compiler requires. */
export namespace JSX {
  export type Element = Markup
  export interface ElementChildrenAttribute {
    children: Children
  }
  export interface IntrinsicAttributes {
    key?: string | number
  }
  export interface IntrinsicElements {
    [tag: string]: { children?: Children; [attribute: string]: Children | RawHtml }
  }
}

export declare const Fragment: (props: { children?: Children }) => Markup
export declare const jsx: (type: unknown, props: object, key?: string | number) => Markup
export declare const jsxs: typeof jsx
