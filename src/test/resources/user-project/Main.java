/** Started from an IDE. */
public class Main {
  public static void main(String[] args) {
    io.gatling.app.Gatling.main(args);
  }
}
