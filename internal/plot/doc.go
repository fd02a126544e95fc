// Package plot draws pictures as SVG: lines and steps over time, distributions, bars, and Gantt charts.
// Reports of the simulator and the dashboard share it, so that the same thing looks the same in both.
//
// A picture is a value ([Chart], [CDF], [Bars], [Gantt]). [SVG] makes a self-contained file of it; [Inline]
// makes a piece of a page that includes the style sheet ([CSS]) itself, so that pages may forbid inline
// styles. Each picture has these properties:
//
//   - The same value gives the same bytes.
//   - Names may be hostile: all text is escaped, and control characters become visible.
//   - Color is never the only distinction: lines differ in dashes and markers, bars and boxes
//     in hatching or labels. Colors keep their contrast in light and in dark mode.
//   - The size is bounded for data of any length. Long series lose points, but never their
//     highest and lowest; a Gantt chart says how many boxes it omits.
//   - Tooltips work without a script; data attributes hold the values that a script needs
//     for a readout under the pointer.
//
// The caller knows the meaning of the numbers; here they are seconds, counts and fractions.
package plot
